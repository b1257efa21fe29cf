import replacement from './jsonrepair.cjs';

export const { JSONRepairError, jsonrepair } = replacement;
