// The code in the pages runs.

import assert from 'node:assert/strict';
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { createTool } from '@mastra/core/tools';
import { tool } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
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

for (const page of ['docs/json-repair.md', 'docs/node.md', 'README.md']) {
  test(`the code of ${page} runs`, async () => {
    const code = readBlocks(page);
    assert.ok(code.length > 0);
    for (const [index, block] of code.entries()) await runModule(`${page.replace(/\W/g, '-')}-${index}`, block);
  });
}

/** The lines under a heading of the page about hooks. */
function readHook(heading) {
  const text = readFileSync(join(root, 'docs/hooks.md'), 'utf8');
  const block = text.split(`# ${heading}\n`)[1].split('```js\n')[1].split('```')[0];
  assert.equal(block.trimEnd().split('\n').length, 3, 'the page promises three lines');
  return block;
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const BROKEN = "{'path': 'a.txt',}";

function createModel(part) {
  const finishReason = { unified: 'tool-calls', raw: '' };
  const parts = part.type === 'text' ? [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: part.text }] : [part];
  return new MockLanguageModelV3({
    doGenerate: { content: [part], finishReason, usage, warnings: [] },
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [...parts, { type: 'finish', finishReason, usage }] }) }),
  });
}

const CALL = { type: 'tool-call', toolCallId: 'c1', toolName: 'read_file', input: BROKEN };
const TEXT = { type: 'text', text: `<tool_call>{"name": "read_file", "arguments": ${BROKEN}}</tool_call>` };

for (const [heading, part, create, more] of [
  ['Vercel AI SDK', CALL, tool, ''],
  ['Models without tool support', TEXT, tool, ''],
  ['Mastra', CALL, createTool, "await agent.generate('read it', { maxSteps: 1 });"],
]) {
  test(`the lines for ${heading} work`, async () => {
    const ran = [];
    const execute = async ({ path }) => void ran.push(path);
    const inputSchema = z.object({ path: z.string() });
    const tools = { read_file: create({ id: 'read_file', description: 'Reads.', inputSchema, execute }) };
    globalThis.page = { tools, prompt: 'read it', model: createModel(part) };
    const name = heading.replace(/\W/g, '-');
    await runModule(name, `const { model, tools, prompt } = globalThis.page;\n${readHook(heading)}\n${more}`);
    assert.deepEqual(ran, ['a.txt']);
  });
}
