// Builds the native module with Cargo and copies it to this folder. `npm install` runs this in a clone.

import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const profile = process.env.TOOLMEND_PROFILE ?? 'release';
const args = ['build', '--locked', '--package', 'toolmend-node', '--profile', profile];
const output = execFileSync('cargo', [...args, '--message-format', 'json-render-diagnostics'], {
  cwd: here,
  encoding: 'utf8',
  maxBuffer: 1 << 28,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const built = output
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line))
  .find((message) => message.reason === 'compiler-artifact' && message.target.name === 'toolmend_node');
const target = join(here, 'toolmend.node');
// A process may have loaded the old library, so it is removed first instead of overwritten.
rmSync(target, { force: true });
copyFileSync(built.filenames[0], target);
