// What the full build exports: the interface of the Node package, and the tables.

import toolmend from '../../toolmend-node/js/index.cjs';
import replacement from '../../toolmend-node/js/jsonrepair.cjs';
import { loaded } from './module.mjs';

export const { Call, MendError, Mender, OutputStream, Preview, Turn, Verdict, createStream, fix, parse, schemaOf, turn } =
  toolmend;
export const { JSONRepairError, jsonrepair } = replacement;

/** Returns every repair. */
export function repairs() {
  return JSON.parse(loaded().repairTable());
}

/** Returns every dialect. */
export function dialects() {
  return JSON.parse(loaded().dialectTable());
}
