// Makes one of the two builds of the package: `build.mjs full|light MODULE GENERATED PACKAGE`, run by `cargo xtask wasm`.
//
// MODULE is the WebAssembly file and GENERATED its JavaScript. The working directory has esbuild.

import { copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { build } = createRequire(join(process.cwd(), 'package.json'))('esbuild');
const [name, module, generated, folder] = process.argv.slice(2);
const here = join(dirname(fileURLToPath(import.meta.url)), 'js');
const out = join(folder, name);
mkdirSync(out, { recursive: true });
copyFileSync(module, join(out, 'toolmend.wasm'));

// The scripts of the Node package run on this module instead of the native one.
const onWebAssembly = {
  name: 'on-webassembly',
  setup(build) {
    build.onResolve({ filter: /\/native\.cjs$/ }, () => ({ path: join(here, 'native.cjs') }));
    build.onResolve({ filter: /^toolmend-generated$/ }, () => ({ path: generated }));
    build.onResolve({ filter: /^toolmend-exports$/ }, () => ({ path: join(here, `${name}.mjs`) }));
    build.onResolve({ filter: /\.wasm$/ }, () => ({ path: './toolmend.wasm', external: true }));
  },
};

const scripts = { web: 'mjs', node: 'mjs', worker: 'mjs', ...(name === 'full' && { fallback: 'cjs' }) };
for (const [script, extension] of Object.entries(scripts)) {
  await build({
    entryPoints: [join(here, `${script}.${extension}`)],
    outfile: join(out, `${script}.${extension}`),
    bundle: true,
    format: extension === 'cjs' ? 'cjs' : 'esm',
    platform: 'neutral',
    external: ['node:*'],
    target: 'es2022',
    legalComments: 'none',
    plugins: [onWebAssembly],
    logLevel: 'warning',
    // What wasm-bindgen generates looks for a URL of its own, which is always given.
    logOverride: { 'empty-import-meta': 'silent' },
  });
}
