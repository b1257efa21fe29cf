// Mastra with a scripted model that makes malformed calls.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { mended } from 'toolmend/mastra';
import { z } from 'zod';

const BROKEN = "{'path': 'a.txt', 'limit': '30',}";
const MENDED = { path: 'a.txt', limit: 30 };
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function text(...pieces) {
  return [{ type: 'text-start', id: 't' }, ...pieces.map((delta) => ({ type: 'text-delta', id: 't', delta })), { type: 'text-end', id: 't' }];
}

/** Answers with these parts, and then with `done`. */
function scripted(parts, finishReason = 'tool-calls') {
  const asked = [];
  const finishOf = (first) => ({ unified: first ? finishReason : 'stop', raw: '' });
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const first = asked.push(prompt) === 1;
      const written = parts.map(({ delta = '' }) => delta).join('');
      const content = parts[0].type === 'tool-call' ? parts : [{ type: 'text', text: written }];
      const done = [{ type: 'text', text: 'done' }];
      return { content: first ? content : done, finishReason: finishOf(first), usage, warnings: [] };
    },
    doStream: async ({ prompt }) => {
      const first = asked.push(prompt) === 1;
      const finish = { type: 'finish', finishReason: finishOf(first), usage };
      const start = { type: 'stream-start', warnings: [] };
      return { stream: simulateReadableStream({ chunks: [start, ...(first ? parts : text('done')), finish] }) };
    },
  });
  return { model, asked };
}

function createReader(model) {
  const ran = [];
  const read_file = createTool({
    id: 'read_file',
    description: 'Reads a file.',
    inputSchema: z.object({ path: z.string(), limit: z.number().int() }),
    execute: async (input) => {
      ran.push(input);
      return 'contents';
    },
  });
  const agent = new Agent({ id: 'reader', name: 'reader', instructions: 'Read.', model, tools: { read_file } });
  return { ran, agent };
}

const CALL = [{ type: 'tool-call', toolCallId: 'c1', toolName: 'readFile', input: BROKEN }];

test('without the hook the tool does not run', async () => {
  const { ran, agent } = createReader(scripted(CALL).model);
  await agent.generate('read it', { maxSteps: 2 });
  assert.deepEqual(ran, []);
});

test('with the hook the tool runs', async () => {
  const { ran, agent } = createReader(mended(scripted(CALL).model));
  const { text: answer } = await agent.generate('read it', { maxSteps: 2 });
  assert.deepEqual(ran, [MENDED]);
  assert.equal(answer, 'done');
});

test('tools are given to models that have no support for them', async () => {
  const call = `One moment.\n<tool_call>{"name": "read_file", "arguments": ${BROKEN}}</tool_call>`;
  const { model, asked } = scripted(text(call.slice(0, 20), call.slice(20)), 'stop');
  const { ran, agent } = createReader(mended(model, { describeTools: true }));
  const { text: answer } = await agent.generate('read it', { maxSteps: 2 });
  assert.deepEqual(ran, [MENDED]);
  assert.match(answer, /done$/);
  assert.match(JSON.stringify(asked[0]), /<tools>.*read_file/);
  assert.match(JSON.stringify(asked[1]), /<tool_response>/);
});

test('streams are mended', async () => {
  for (const parts of [CALL, text(`<tool_call>{"name": "read_file", "arguments": ${BROKEN}}</tool_call>`)]) {
    const { ran, agent } = createReader(mended(scripted(parts).model));
    const stream = await agent.stream('read it', { maxSteps: 2 });
    let answer = '';
    for await (const piece of stream.textStream) answer += piece;
    assert.deepEqual(ran, [MENDED]);
    assert.equal(answer, 'done');
  }
});
