// The public API: parse, tools, turns, streams, schemas of other libraries, and both kinds of modules.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as toolmend from 'toolmend';
import { MendError, Mender, Preview, createStream, fix, parse, schemaOf, turn } from 'toolmend';
import * as v from 'valibot';
import { z } from 'zod';

const SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer' } },
  required: ['path'],
};
const ZOD = z.object({ path: z.string(), limit: z.int().optional() });
const VALIBOT = toStandardJsonSchema(v.object({ path: v.string(), limit: v.optional(v.pipe(v.number(), v.integer())) }));

test('valid text gives the value of JSON.parse', () => {
  for (const text of ['null', ' [] ', '{"a":{"b":[1,2.5,-0,1e400]},"a":2}', '"\\u00e9\\ud83d\\ude00"', '"é😀"', 'true']) {
    assert.deepEqual(parse(text), JSON.parse(text));
  }
  assert.equal(parse('"\ud800"'), '\ud800');
  assert.deepEqual(parse('{"a": 1}', (key, value) => (key === 'a' ? value + 1 : value)), { a: 2 });
});

test('what is not text is what it is for JSON.parse', () => {
  for (const value of [undefined, { a: 1 }, [[]], Symbol.iterator]) assert.throws(() => parse(value));
  for (const value of [null, 1, true, [1]]) assert.deepEqual(parse(value), JSON.parse(value));
});

test('broken JSON is read', () => {
  assert.deepEqual(parse("```json\n{'a': True, b: [1, 2,], // c\n}\n```"), { a: true, b: [1, 2] });
  assert.deepEqual(parse('{"path": "a", "limit": "3"}', SCHEMA), { path: 'a', limit: 3 });
  assert.deepEqual(parse('{path: a, limit: "3"}', ZOD), { path: 'a', limit: 3 });
});

test('a refusal is a SyntaxError with a verdict', () => {
  assert.throws(() => parse('{"a": "b'), (error) => {
    assert.ok(error instanceof SyntaxError && error instanceof MendError);
    assert.match(error.message, /cut off/);
    assert.deepEqual([error.verdict.outcome, error.verdict.cut, error.verdict.runs], ['truncated', '/a', false]);
    return true;
  });
});

const TOOLS = {
  'chat completions': [{ type: 'function', function: { name: 'read_file', parameters: SCHEMA } }],
  Anthropic: [{ name: 'read_file', input_schema: SCHEMA }],
  'MCP, as a client lists it': { tools: [{ name: 'read_file', inputSchema: SCHEMA }] },
  'a map of JSON Schemas': { read_file: SCHEMA },
  'a map of zod schemas': { read_file: ZOD },
  'tools of the AI SDK': { read_file: { description: 'Reads.', inputSchema: ZOD, execute: () => {} } },
  'a list with zod': [{ name: 'read_file', parameters: ZOD }],
  'a list with valibot': [{ name: 'read_file', parameters: VALIBOT }],
  'a bare schema': ZOD,
};
for (const [shape, tools] of Object.entries(TOOLS)) {
  test(`tools: ${shape}`, () => {
    const verdict = new Mender(tools).mend('read_file', "{Path: 'a.txt', limit: '3'}");
    assert.deepEqual([verdict.outcome, verdict.tool, verdict.arguments], ['mended', 'read_file', { path: 'a.txt', limit: 3 }]);
    assert.ok(verdict.repairs.some(({ kind, tier }) => kind === 'key_quoted' && tier === 'lossless'));
  });
}

test('a verdict has every field', () => {
  const mender = new Mender(TOOLS.Anthropic);
  assert.deepEqual(mender.toolNames, ['read_file']);
  const clean = mender.mend('read_file', '{"path": "a"}');
  assert.deepEqual([clean.outcome, clean.json, clean.repairs], ['clean', '{"path": "a"}', []]);
  const value = mender.mend('read_file', { path: 'a', limit: '3' });
  assert.deepEqual([value.arguments, value.repairs[0].at], [{ path: 'a', limit: 3 }, null]);
  const refused = mender.mend('read_file', '{"limit": 3}');
  assert.deepEqual([refused.reason, refused.arguments, refused.violations[0].keyword], ['schema', undefined, 'required']);
  assert.match(refused.feedback, /path/);
  const cut = mender.mend('read_file', '{"path": "a", "limit": 3', { finishReason: 'length' });
  assert.deepEqual([cut.outcome, cut.partial], ['truncated', { path: 'a' }]);
});

test('policies are applied, and an invalid schema is an error', () => {
  assert.equal(fix("{'a': 1}", undefined, { policy: 'strict' }).outcome, 'rejected');
  assert.equal(fix('{a: b}', undefined, { policy: { maxTier: 'lossless' } }).reason, 'policy');
  assert.throws(() => fix('1', undefined, { policy: { off: ['magic'] } }), /magic/);
  const broken = [{ name: 'f', parameters: { type: 'objekt' } }];
  assert.throws(() => new Mender(broken), /objekt/);
  assert.equal(new Mender(broken, { lenient: true }).notes.length, 1);
  assert.throws(() => schemaOf(v.string()), /valibot/);
});

const TEXT = 'Sure.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "ü.txt",}}\n</tool_call>';

test('turns and streams agree for pieces of any size', async () => {
  const whole = turn(TEXT, TOOLS.Anthropic, { finishReason: 'stop' });
  assert.deepEqual([whole.content, whole.calls[0].arguments], ['Sure.', { path: 'ü.txt' }]);
  const bytes = new TextEncoder().encode(TEXT);
  for (const size of [1, 3, 1000]) {
    const pieces = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
        controller.close();
      },
    });
    const events = [];
    const transform = createStream(TOOLS.Anthropic).transform({ finishReason: () => 'stop' });
    for await (const event of pieces.pipeThrough(transform)) events.push(event);
    assert.equal(events.filter(({ type }) => type === 'content').map(({ text }) => text).join(''), 'Sure.');
    const ends = events.filter(({ type }) => type === 'call-end').map(({ call }) => call.toJSON());
    assert.deepEqual(ends, [whole.calls[0].toJSON()]);
  }
});

const COUNT = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const FORMAT = { type: 'json_schema', json_schema: { name: 'count', schema: COUNT } };

test('answers are judged by the format of the request', () => {
  const mender = new Mender(TOOLS.Anthropic);
  const clean = mender.answer('Here: {"n": 3}', FORMAT);
  assert.deepEqual([clean.outcome, clean.value], ['clean', { n: 3 }]);
  const mended = mender.answer("{n: '3'}", FORMAT, { finishReason: 'stop' });
  assert.deepEqual([mended.outcome, mended.json, mended.tool], ['mended', '{"n": 3}', null]);
  const refused = mender.answer('{"m": 3}', FORMAT);
  assert.deepEqual([refused.outcome, refused.reason], ['rejected', 'schema']);
  assert.equal(mender.answer('{"n": 3}', z.object({ n: z.number() })).outcome, 'clean');
});

test('turns have the verdict on their answer', () => {
  const mender = new Mender(TOOLS.Anthropic);
  const asked = mender.turn("{n: '3'}", { request: { response_format: FORMAT }, finishReason: 'stop' });
  assert.deepEqual([asked.answer.outcome, asked.answer.value, asked.content], ['mended', { n: 3 }, '{"n": 3}']);
  assert.equal(asked.toJSON().content_outcome, 'mended');
  assert.equal(mender.turn('Done.').answer, null);
});

test('both kinds of modules have the same exports', () => {
  const common = createRequire(import.meta.url)('toolmend');
  assert.deepEqual(Object.keys(common).sort(), Object.keys(toolmend).filter((name) => name !== 'default').sort());
  assert.equal(common.Mender, Mender);
});

test('a preview grows with its text', () => {
  const preview = new Preview('{"path": "a.txt", "steps": [{"say": "Once');
  assert.deepEqual(preview.value, { path: 'a.txt', steps: [{ say: 'Once' }] });
  assert.equal(preview.push(' upon').json, '{"path": "a.txt", "steps": [{"say": "Once upon"}]}');
  assert.equal(new Preview('Well').value, undefined);
});

test('streams send previews on request', () => {
  const text = '<tool_call>{"name": "plan", "arguments": {"steps": [{"say": "Once';
  const partial = { steps: [{ say: 'Once' }] };
  const events = createStream(['plan'], { previews: true }).push(text);
  assert.deepEqual(events, [{ type: 'preview', index: 0, name: 'plan', partial, incomplete: true }]);
  assert.deepEqual(createStream(['plan']).push(text), []);
});
