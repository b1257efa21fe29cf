import replacement from './stream.cjs';

export const { jsonrepairTransform } = replacement;
