// `toolmend/jsonrepair` has the interface of `jsonrepair`, and its answers where those are certain.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import test from 'node:test';
import { jsonrepair as original } from 'jsonrepair';
import { JSONRepairError, jsonrepair } from 'toolmend/jsonrepair';
import { jsonrepairTransform } from 'toolmend/jsonrepair/stream';

// Both give the value that was meant.
const SAME = [
  '{"a": 1, "b": [1, 2,],}', `{'a': 'x', 'b': "y"}`, '{a: 1, b_c: "x"}', '{"a": True, "b": None}', '{"a": 1\n"b": 2}',
  '[1 2 3]', '{"a": {"b": 1}', '{"a": [1, 2}', '{"a": 1}}', '{"t": "say "hi" now"}', '{"html": "<a href="x">y</a>"}',
  '{"a": "x\ny"}', '{"a": 1 /* c */, "b": 2 // d\n}', '```json\n{"a": 1}\n```', '{\\"a\\": \\"b\\"}', 'callback({"a": 1});',
  '{"a" 1}', '{"a": 1}\n{"a": 2}\n{"a": 3}',
];

// The original completes, drops or invents something.
const REFUSED = [
  '{"path": "n.md", "content": "Once upon a', '{"a": 1, "pa', '{"a": 1, "b":', '{"a": tru', '[1,2,3', '{', '{"a": , "b": 2}',
  'I cannot do that.', '[1, 2, ...]',
];

test('what is certain is the same', () => {
  for (const text of SAME) assert.deepEqual(JSON.parse(jsonrepair(text)), JSON.parse(original(text)), text);
  const valid = ' {"a" : 1.50,\n"n": 12345678901234567890} ';
  assert.equal(jsonrepair(valid), valid);
  assert.equal(jsonrepair('{"n": 12345678901234567890}\n{"n": 2}'), '[\n{"n": 12345678901234567890},\n{"n": 2}\n]');
});

test('nothing is made up', () => {
  for (const text of REFUSED) {
    assert.throws(() => jsonrepair(text), (error) => {
      assert.ok(error instanceof JSONRepairError && error instanceof Error);
      assert.match(error.message, new RegExp(`at position ${error.position}$`));
      assert.ok(error.position >= 0 && error.position <= text.length && !error.verdict.runs, text);
      return true;
    });
  }
});

test('what is not text is a type error', () => {
  for (const value of [undefined, null, 1, {}, Buffer.from('[]')]) assert.throws(() => jsonrepair(value), TypeError);
});

test('a stream is mended once it is complete', async () => {
  const pieces = Buffer.from("{'ü': ['😀',],}");
  const bytes = Readable.from([...pieces].map((byte) => Buffer.from([byte])));
  assert.equal(await readText(bytes.pipe(jsonrepairTransform({ chunkSize: 4 }))), '{"ü": ["😀"]}');
  await assert.rejects(readText(Readable.from(['{"a": ']).compose(jsonrepairTransform())), JSONRepairError);
});

test('both kinds of modules are the same', () => {
  const require = createRequire(import.meta.url);
  assert.equal(require('toolmend/jsonrepair').jsonrepair, jsonrepair);
  assert.equal(require('toolmend/jsonrepair/stream').jsonrepairTransform, jsonrepairTransform);
});
