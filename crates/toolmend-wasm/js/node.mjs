// Node, Bun and Deno: the module is read when this file is imported.

import { readFileSync } from 'node:fs';
import { loadSync } from './module.mjs';

export * from 'toolmend-exports';

loadSync(readFileSync(new URL('toolmend.wasm', import.meta.url)));

/** Does nothing, so that the same code runs in browsers. */
export default async function init() {}
