'use strict';

// The native module: the one that was built in this folder, the package for this platform, or the same as WebAssembly, which is slower.

const { existsSync } = require('node:fs');

/** The name of this platform in the names of packages, such as `linux-x64-gnu`. */
function platformName() {
  const { platform, arch, report } = process;
  if (platform !== 'linux') return `${platform}-${arch}${platform === 'win32' ? '-msvc' : ''}`;
  // Musl has no version of glibc to report. Asking for the network would take seconds.
  report.excludeNetwork = true;
  const isGlibc = Boolean(report.getReport().header.glibcVersionRuntime);
  return `linux-${arch}-${isGlibc ? 'gnu' : 'musl'}`;
}

function load() {
  const built = `${__dirname}/../toolmend.node`;
  if (existsSync(built)) return require(built);
  const binding = `@toolmend/binding-${platformName()}`;
  let failed;
  for (const name of [binding, '@toolmend/wasm/fallback']) {
    try {
      return require(name);
    } catch (error) {
      if (error.code !== 'MODULE_NOT_FOUND') throw error;
      failed = error;
    }
  }
  const advice = `install ${binding} or @toolmend/wasm, or run \`npm run build\` in a clone of toolmend, which needs Rust`;
  throw new Error(`toolmend has no native module for this platform; ${advice}`, { cause: failed });
}

module.exports = load();
