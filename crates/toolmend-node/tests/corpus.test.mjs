// Every case of the corpus gets the answer of the command.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import * as toolmend from 'toolmend';
import { answerRecord, expectedAnswer } from './answers.mjs';

// `corpus/records.py` writes it, and `cargo xtask packages` sets the variable.
const folder = process.env.TOOLMEND_CORPUS;

const lines = (file) => readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));

test('the corpus was written', () => {
  assert.ok(folder, 'run `cargo xtask packages`, which writes the records');
  assert.ok(readdirSync(folder).some((file) => file === 'balanced.records'));
});

for (const file of folder ? readdirSync(folder).filter((name) => name.endsWith('.records')) : []) {
  const policy = file.replace('.records', '');
  test(`the package gives the answers of the command: ${policy}`, () => {
    const [records, expected] = [lines(file), lines(`${policy}.answers`)];
    assert.equal(records.length, expected.length);
    records.forEach((record, index) => {
      assert.deepEqual(answerRecord(toolmend, record, policy), expectedAnswer(record, expected[index]));
    });
  });
}
