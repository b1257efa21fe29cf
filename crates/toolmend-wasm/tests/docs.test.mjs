// The code in `docs/wasm.md` runs.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const page = readFileSync(join(import.meta.dirname, 'wasm.md'), 'utf8');
const blocks = [...page.matchAll(/^## (.+)$|^```js\n([^]*?)^```$/gm)];

let section = '';
for (const [, title, code] of blocks) {
  if (title) section = title;
  else
    test(`the code in: ${section}`, async () => {
      const file = join(import.meta.dirname, `page-${section.toLowerCase().replaceAll(' ', '-')}.mjs`);
      writeFileSync(file, code);
      await import(file);
    });
}

test('there is code in three sections', () => assert.equal(blocks.filter(([, , code]) => code).length, 3));
