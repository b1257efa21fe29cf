// The Vercel AI SDK with a scripted model that makes malformed calls.

import assert from 'node:assert/strict';
import test from 'node:test';
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';
import { mendingMiddleware, prepareStep, repairToolCall, toolMiddleware } from 'toolmend/ai-sdk';
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

/** A model that only writes text: these texts one after the other. */
function plain(texts, asked = []) {
  const next = (params) => texts[Math.min(asked.push(params), texts.length) - 1];
  return new MockLanguageModelV3({
    doGenerate: async (params) => {
      const content = [{ type: 'text', text: next(params) }];
      return { content, finishReason: reason('stop'), usage, warnings: [] };
    },
    doStream: async (params) => {
      const pieces = next(params).match(/[^]{1,5}/g).map((delta) => ({ type: 'text-delta', id: 't', delta }));
      const chunks = [{ type: 'text-start', id: 't' }, ...pieces, { type: 'text-end', id: 't' }];
      return { stream: simulateReadableStream({ chunks: [...chunks, { type: 'finish', finishReason: reason('stop'), usage }] }) };
    },
  });
}

const WRITTEN = `One moment.\n<tool_call>\n{"name": "read_file", "arguments": ${BROKEN}}\n</tool_call>`;

function requestWith(middleware, texts, more) {
  const asked = [];
  return { asked, ...request(wrapLanguageModel({ model: plain(texts, asked), middleware }), more) };
}

test('a model without tool support gets tools', async () => {
  const { asked, ran, options } = requestWith(toolMiddleware(), [WRITTEN, 'done'], { system: 'Be brief.' });
  const { text, steps } = await generateText(options);
  assert.deepEqual(ran, [{ path: 'a.txt', limit: 30 }]);
  assert.equal(text, 'done');
  assert.deepEqual([steps[0].text, steps[0].finishReason], ['One moment.', 'tool-calls']);
  assert.equal(asked[0].tools, undefined);
  assert.match(asked[0].prompt[0].content, /^Be brief\.\n\n.*<tools>.*read_file/s);
  const [call, result] = asked[1].prompt.slice(-2).map(({ content }) => content.map(({ text }) => text).join('\n'));
  assert.match(call, /^One moment\.\n<tool_call>\n\{"name":"read_file","arguments":\{"path":"a.txt","limit":30\}\}/);
  assert.match(result, /^<tool_response>\n.*"contents"/);
});

test('the text of such a model streams, and its calls run', async () => {
  const { ran, options } = requestWith(toolMiddleware(), [WRITTEN, 'done']);
  const types = [];
  let text = '';
  for await (const part of streamText(options).fullStream) {
    if (types.at(-1) !== part.type) types.push(part.type);
    if (part.type === 'text-delta') text += part.text;
  }
  assert.deepEqual(ran, [{ path: 'a.txt', limit: 30 }]);
  assert.equal(text, 'One moment.done');
  const expected = ['text-start', 'text-delta', 'text-end', 'tool-input-start', 'tool-input-delta', 'tool-input-end', 'tool-call'];
  assert.deepEqual(types.slice(types.indexOf('text-start')).slice(0, expected.length), expected);
});

test('a text without calls, and a request without tools, stay as they are', async () => {
  for (const middleware of [toolMiddleware(), mendingMiddleware()]) {
    const { options } = requestWith(middleware, ['It is noon.']);
    assert.equal((await generateText(options)).text, 'It is noon.');
    const { model } = options;
    const plainText = await generateText({ model, prompt: 'hello' });
    assert.equal(plainText.text, 'It is noon.');
  }
});

test('the text of a stream that breaks off is not lost', async () => {
  const chunks = [{ type: 'text-delta', id: 't', delta: 'It is noon. <tool' }];
  const model = new MockLanguageModelV3({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) });
  const { stream } = await wrapLanguageModel({ model, middleware: mendingMiddleware() }).doStream({
    prompt: [],
    tools: [{ type: 'function', name: 'read_file', inputSchema: { type: 'object' } }],
  });
  let text = '';
  for await (const part of stream) text += part.delta ?? '';
  assert.equal(text, 'It is noon. <tool');
});

test('a call that was cut off does not run', async () => {
  const { ran, options } = requestWith(toolMiddleware(), ['<tool_call>{"name": "read_file", "arguments": {"path": "a.t', 'done']);
  const { steps } = await generateText(options);
  assert.deepEqual(ran, []);
  assert.equal(steps[0].toolCalls[0].invalid, true);
});

for (const [kind, model] of [
  ['in the interface', () => scripted(BROKEN, 'ReadFile')],
  ['in the text', () => plain([WRITTEN, 'done'])],
]) {
  test(`calls ${kind} are mended`, async () => {
    const { ran, options } = request(wrapLanguageModel({ model: model(), middleware: mendingMiddleware() }), {});
    await generateText(options);
    assert.deepEqual(ran, [{ path: 'a.txt', limit: 30 }]);
  });
  test(`calls ${kind} of a stream are mended`, async () => {
    const wrapped = wrapLanguageModel({ model: model(), middleware: mendingMiddleware() });
    const { ran, options } = request(wrapped, { stopWhen: stepCountIs(1) });
    for await (const _ of streamText(options).fullStream);
    assert.deepEqual(ran, [{ path: 'a.txt', limit: 30 }]);
  });
}
