// Workers may not compile code while they run. Their build compiles the file that is imported here.

import module from './toolmend.wasm';
import { loadSync } from './module.mjs';

export * from 'toolmend-exports';

loadSync(module);

/** Does nothing, so that the same code runs in browsers. */
export default async function init() {}
