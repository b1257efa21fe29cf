// Writes the packages that are published to a folder: the package itself, and one for the native module of a platform.
//
//     node pack.mjs FOLDER                     the package
//     node pack.mjs FOLDER PLATFORM MODULE     the module of a platform, such as linux-x64-gnu, or `this`

import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const LICENCES = ['LICENSE-MIT', 'LICENSE-APACHE'];
const PREFIX = '@toolmend/binding-';
// The name of a platform, and what npm compares with the machine.
const PLATFORMS = {
  'darwin-arm64': { os: 'darwin', cpu: 'arm64' },
  'darwin-x64': { os: 'darwin', cpu: 'x64' },
  'linux-arm64-gnu': { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  'linux-arm64-musl': { os: 'linux', cpu: 'arm64', libc: 'musl' },
  'linux-x64-gnu': { os: 'linux', cpu: 'x64', libc: 'glibc' },
  'linux-x64-musl': { os: 'linux', cpu: 'x64', libc: 'musl' },
  'win32-arm64-msvc': { os: 'win32', cpu: 'arm64' },
  'win32-x64-msvc': { os: 'win32', cpu: 'x64' },
};

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

function begin(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const licence of LICENCES) copyFileSync(join(root, licence), join(folder, licence));
}

function writeManifest(folder, fields) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(fields, null, 2)}\n`);
}

function packWhole(folder) {
  begin(folder);
  cpSync(join(here, 'js'), join(folder, 'js'), { recursive: true });
  copyFileSync(join(here, 'README.md'), join(folder, 'README.md'));
  // In a clone the paths begin at its root, and the module is built.
  const { scripts, ...fields } = JSON.parse(JSON.stringify(manifest).replaceAll('crates/toolmend-node/', ''));
  const bindings = Object.keys(PLATFORMS).map((platform) => [PREFIX + platform, manifest.version]);
  writeManifest(folder, { ...fields, files: ['js', ...LICENCES], optionalDependencies: Object.fromEntries(bindings) });
}

function packBinding(folder, platform, module) {
  const known = PLATFORMS[platform];
  if (known === undefined) throw new Error(`expected one of ${Object.keys(PLATFORMS).join(', ')}, found ${platform}`);
  begin(folder);
  copyFileSync(module, join(folder, 'toolmend.node'));
  const name = PREFIX + platform;
  writeFileSync(join(folder, 'README.md'), `# ${name}\n\nThe native module of [toolmend](${manifest.homepage}) for this platform.\n`);
  const { version, license, repository, homepage, engines } = manifest;
  const limits = Object.fromEntries(Object.entries(known).map(([key, value]) => [key, [value]]));
  const description = `The native module of toolmend for ${platform}`;
  const files = ['toolmend.node', ...LICENCES];
  const described = { name, version, description, license, repository, homepage, engines };
  writeManifest(folder, { ...described, ...limits, type: 'commonjs', main: 'toolmend.node', files });
}

/** The name of the platform that this runs on. */
function findPlatform() {
  const libc = process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
  const isThis = (known) => known.os === process.platform && known.cpu === process.arch && (known.libc ?? libc) === libc;
  return Object.keys(PLATFORMS).find((name) => isThis(PLATFORMS[name]));
}

const [folder, platform, module] = process.argv.slice(2);
if (folder === undefined) throw new Error('expected a folder');
if (platform === undefined) packWhole(folder);
else packBinding(folder, platform === 'this' ? findPlatform() : platform, module);
