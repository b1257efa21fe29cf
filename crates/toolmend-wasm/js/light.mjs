// What the light build exports: JSON text, without schemas and tools.

import toolmend from '../../toolmend-node/js/index.cjs';
import replacement from '../../toolmend-node/js/jsonrepair.cjs';
import { loaded } from './module.mjs';

export const { MendError, Verdict, fix, parse } = toolmend;
export const { JSONRepairError, jsonrepair } = replacement;

/** Returns every repair. */
export function repairs() {
  return JSON.parse(loaded().repairTable());
}
