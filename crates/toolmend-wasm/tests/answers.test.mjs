// Both builds give the answers of the command.

import assert from 'node:assert/strict';
import test from 'node:test';
import * as full from '@toolmend/wasm';
import * as light from '@toolmend/wasm/light';
import { answerRecord, expectedAnswer } from './answers.mjs';
import { readRecords } from './read_records.mjs';

const isPlain = (record) => 'json' in record && record.schema === undefined;

const all = readRecords();

test('there are records', () => {
  assert.ok(all.some(({ name, records }) => name === 'balanced' && records.length > 500));
});

for (const { name, policy, records, answers } of all) {
  test(`the answers of the command: ${name}`, () => {
    assert.equal(records.length, answers.length);
    records.forEach((record, index) => {
      const expected = expectedAnswer(record, answers[index]);
      assert.deepEqual(answerRecord(full, record, policy), expected);
      if (isPlain(record)) assert.deepEqual(answerRecord(light, record, policy), expected);
    });
  });
}
