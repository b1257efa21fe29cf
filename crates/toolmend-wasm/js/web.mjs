// Browsers, Deno, and bundlers for them: the module is fetched.

import { load } from './module.mjs';

export * from 'toolmend-exports';

let loading;

/** Loads the module, once. The default is the file beside this one. */
export default function init(source = new URL('toolmend.wasm', import.meta.url)) {
  loading ??= load(source).catch((error) => {
    // The next call tries again.
    loading = undefined;
    throw error;
  });
  return loading;
}
