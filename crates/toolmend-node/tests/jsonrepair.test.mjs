// `toolmend/jsonrepair` has the interface of `jsonrepair`, and its answers where those are certain.

import assert from 'node:assert/strict';
import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { jsonrepair as original } from 'jsonrepair';
import { JSONRepairError, jsonrepair } from 'toolmend/jsonrepair';
import { jsonrepairTransform } from 'toolmend/jsonrepair/stream';

const root = dirname(realpathSync(createRequire(import.meta.url).resolve('toolmend/package.json')));
const INPUTS = JSON.parse(readFileSync(join(root, 'corpus/repairers/inputs.json'), 'utf8'));

/** The table of the page: what each package answers to a text. */
function readDifferences() {
  const section = readFileSync(join(root, 'docs/json-repair.md'), 'utf8').split('### Where answers differ in JavaScript\n')[1];
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) => row.split('|').slice(1, 4).map((cell) => cell.trim().replace(/^`|`$/g, '').replaceAll('⏎', '\n')));
}

function answerOf(repair, text) {
  try {
    return repair(text);
  } catch {
    return 'refused';
  }
}

test('the page has every difference', () => {
  const found = INPUTS.map((text) => [text, answerOf(original, text), answerOf(jsonrepair, text)]);
  const value = (answer) => (answer === 'refused' ? answer : JSON.parse(answer));
  const different = found.filter(([, other, own]) => !isDeepStrictEqual(value(other), value(own)));
  assert.deepEqual(different, readDifferences());
  assert.equal(INPUTS.length, 54);
});

// The original completes, drops or invents something. With each text, where it stops being JSON, in UTF-16 units.
const REFUSED = [
  ['{"path": "n.md", "content": "Once upon a', 40], ['{"a": 1, "pa', 12], ['{"a": 1, "b":', 13], ['{"a": tru', 6], ['[1,2,3', 6],
  ['{', 1], ['{"a": , "b": 2}', 6], ['I cannot do that.', 0], ['[1, 2, ...]', 7], ['{"é😀": , "b": 2}', 8],
];

test('valid text stays as it is, digit by digit', () => {
  assert.equal(jsonrepair('{"a": "\\ud800"}'), '{"a": "\\ud800"}');
  const valid = ' {"a" : 1.50,\n"n": 12345678901234567890} ';
  assert.equal(jsonrepair(valid), valid);
  assert.equal(jsonrepair('{"n": 12345678901234567890}\n{"n": 2}'), '[\n{"n": 12345678901234567890},\n{"n": 2}\n]');
});

test('nothing is made up', () => {
  for (const [text, position] of REFUSED) {
    assert.throws(() => jsonrepair(text), (error) => {
      assert.ok(error instanceof JSONRepairError && error instanceof Error);
      assert.match(error.message, new RegExp(`at position ${error.position}$`));
      assert.ok(!error.verdict.runs, text);
      assert.equal(error.position, position, text);
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
