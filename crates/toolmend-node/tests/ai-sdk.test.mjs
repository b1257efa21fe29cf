// The Vercel AI SDK with a scripted model that makes malformed calls.

import assert from 'node:assert/strict';
import test from 'node:test';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { prepareStep, repairToolCall } from 'toolmend/ai-sdk';
import { z } from 'zod';

const BROKEN = "{'path': 'a.txt', 'limit': '30',}";
const TRUNCATED = '{"path": "a.t';
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const reason = (unified) => ({ unified, raw: unified });

function scripted(input, toolName = 'read_file', asked = []) {
  const call = { type: 'tool-call', toolCallId: 'c1', toolName, input };
  let requests = 0;
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      asked.push(prompt);
      const first = requests++ === 0;
      const content = [first ? call : { type: 'text', text: 'done' }];
      return { content, finishReason: reason(first ? 'tool-calls' : 'stop'), usage, warnings: [] };
    },
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [call, { type: 'finish', finishReason: reason('tool-calls'), usage }],
      }),
    }),
  });
}

function request(model, more) {
  const ran = [];
  const read_file = tool({
    description: 'Reads a file.',
    inputSchema: z.object({ path: z.string(), limit: z.int() }),
    execute: async (input) => {
      ran.push(input);
      return 'contents';
    },
  });
  return { ran, options: { model, prompt: 'read it', tools: { read_file }, stopWhen: stepCountIs(2), ...more } };
}

const HOOK = { experimental_repairToolCall: repairToolCall };

test('without the hook the tool does not run', async () => {
  const { ran, options } = request(scripted(BROKEN), {});
  const { steps } = await generateText(options);
  assert.deepEqual(ran, []);
  assert.equal(steps[0].toolCalls[0].invalid, true);
});

test('with the hook the tool runs', async () => {
  const { ran, options } = request(scripted(BROKEN), HOOK);
  const { text, steps } = await generateText(options);
  assert.deepEqual(ran, [{ path: 'a.txt', limit: 30 }]);
  assert.equal(text, 'done');
  assert.deepEqual(steps[0].toolCalls[0].input, ran[0]);
});

test('a misspelled name is corrected', async () => {
  const { ran, options } = request(scripted('{"path": "a.txt", "limit": 3}', 'ReadFile'), HOOK);
  await generateText(options);
  assert.deepEqual(ran, [{ path: 'a.txt', limit: 3 }]);
});

test('streams are repaired too', async () => {
  const { ran, options } = request(scripted(BROKEN), { ...HOOK, stopWhen: stepCountIs(1) });
  for await (const _ of streamText(options).fullStream);
  assert.deepEqual(ran, [{ path: 'a.txt', limit: 30 }]);
});

test('a call that cannot be mended fails as before', async () => {
  const { ran, options } = request(scripted(TRUNCATED), HOOK);
  const { steps } = await generateText(options);
  assert.deepEqual(ran, []);
  assert.equal(steps[0].toolCalls[0].invalid, true);
});

for (const [kind, result, expected] of [
  ['text', 'contents', (output) => output.value],
  ['JSON', { lines: 3 }, (output) => output.value.map((part) => part.text).join('\n')],
]) {
  test(`the model reads the notes before a result that is ${kind}`, async () => {
    const asked = [];
    const read_file = tool({
      inputSchema: jsonSchema({
        type: 'object',
        properties: { path: { type: 'string' }, offset: { type: 'integer' }, limit: { type: 'integer' } },
        required: ['path'],
        'x-toolmend': { relational: [{ fields: ['offset', 'limit'], default: { offset: 0, limit: 2000 } }] },
      }),
      execute: async () => result,
    });
    const model = scripted("{'path': 'a.txt', 'limit': 30}", 'read_file', asked);
    await generateText({ model, prompt: 'read it', tools: { read_file }, stopWhen: stepCountIs(2), ...HOOK, prepareStep });
    const { output } = asked[1].find((message) => message.role === 'tool').content[0];
    assert.match(expected(output), /^Note: limit came without offset.*\n.*(contents|lines)/);
  });
}
