// Every case of the corpus gives what the command answers.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Mender, fix } from 'toolmend';

// Written by `corpus/records.py`; `cargo xtask packages` says where.
const folder = process.env.TOOLMEND_CORPUS;

function answer(record, policy) {
  const { finish_reason: finishReason, dialect, model, reasoning_open: reasoningOpen } = record;
  if ('json' in record) return fix(record.json, record.schema, { policy, finishReason }).toJSON();
  const mender = new Mender(record.tools, { policy, lenient: true });
  if ('tool' in record) {
    return { tool: record.tool, ...mender.mend(record.tool, record.arguments, { finishReason }).toJSON() };
  }
  const options = { dialect, model, reasoningOpen };
  const fields =
    'text' in record
      ? mender.turn(record.text, { ...options, finishReason }).toJSON()
      : told(mender.createStream(options), record.chunks, finishReason);
  const notes = [...(fields.notes ?? []), ...mender.notes];
  return notes.length > 0 ? { ...fields, notes } : fields;
}

/** A turn, from its events. */
function told(stream, chunks, finishReason) {
  const events = [...chunks.flatMap((chunk) => stream.push(chunk)), ...stream.finish(finishReason)];
  const text = (type) => events.filter((event) => event.type === type).map((event) => event.text);
  const calls = events.filter((event) => event.call).map((event) => event.call);
  const order = ['clean', 'mended', 'truncated', 'rejected'];
  const worst = Math.max(0, ...calls.map((call) => order.indexOf(call.outcome)));
  const fields = { outcome: order[worst], content: text('content').join(''), calls: calls.map((call) => call.toJSON()) };
  const [reasoning, notes] = [text('reasoning').join(''), text('note')];
  if (reasoning !== '') fields.reasoning = reasoning;
  if (notes.length > 0) fields.notes = notes;
  return fields;
}

const lines = (file) => readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));

test('the corpus is there', () => {
  assert.ok(folder, 'run `cargo xtask packages`, which writes the records');
  assert.ok(readdirSync(folder).some((file) => file === 'balanced.records'));
});

for (const file of folder ? readdirSync(folder).filter((name) => name.endsWith('.records')) : []) {
  const policy = file.replace('.records', '');
  test(`the package answers as the command does: ${policy}`, () => {
    const [records, expected] = [lines(file), lines(`${policy}.answers`)];
    assert.equal(records.length, expected.length);
    records.forEach((record, index) => {
      assert.deepEqual({ id: record.id, ...answer(record, policy) }, expected[index]);
    });
  });
}
