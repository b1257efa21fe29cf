// The code in the pages runs.

import assert from 'node:assert/strict';
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';

const root = dirname(realpathSync(createRequire(import.meta.url).resolve('toolmend/package.json')));

function readBlocks(page) {
  const text = readFileSync(join(root, page), 'utf8');
  return text.split('```js\n').slice(1).map((rest) => rest.split('```')[0]);
}

/** Runs code as a module in this folder, where it finds its packages. */
async function runModule(name, code) {
  const file = join(import.meta.dirname, `page-${name}.mjs`);
  writeFileSync(file, code);
  try {
    return await import(file);
  } finally {
    rmSync(file);
  }
}

for (const page of ['docs/node.md', 'README.md']) {
  test(`the code of ${page} runs`, async () => {
    const code = readBlocks(page);
    assert.ok(code.length > 0);
    for (const [index, block] of code.entries()) await runModule(`${page.replace(/\W/g, '-')}-${index}`, block);
  });
}

test('the lines for the AI SDK work', async () => {
  const ran = [];
  const execute = async (input) => void ran.push(input);
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'read_file', input: "{'path': 'a.txt',}" };
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  globalThis.page = {
    tools: { read_file: tool({ inputSchema: z.object({ path: z.string() }), execute }) },
    prompt: 'read it',
    model: new MockLanguageModelV3({
      doGenerate: { content: [call], finishReason: { unified: 'tool-calls', raw: '' }, usage, warnings: [] },
    }),
  };
  const [block] = readBlocks('docs/hooks.md');
  assert.equal(block.trimEnd().split('\n').length, 3, 'the page promises three lines');
  await runModule('hooks', `const { model, tools, prompt } = globalThis.page;\n${block}`);
  assert.deepEqual(ran, [{ path: 'a.txt' }]);
});
