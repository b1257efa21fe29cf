// The compiled module, with the JavaScript that the build generates for it. It is the same file for both builds.

import * as generated from 'toolmend-generated';

let isLoaded = false;

/** Starts a compiled module at once. */
export function loadSync(module) {
  generated.initSync({ module });
  isLoaded = true;
}

/** Fetches and starts the module. `source` is whatever `fetch` or `WebAssembly.instantiate` takes. */
export async function load(source) {
  await generated.default({ module_or_path: source });
  isLoaded = true;
}

/** Returns the classes and functions of the module. */
export function loaded() {
  if (!isLoaded) throw new Error('toolmend is not loaded yet; first `await init()`, the default export of this module');
  return generated;
}
