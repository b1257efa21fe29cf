// Every case of the corpus gets the answer of the command.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { Mender, fix } from 'toolmend';

// `corpus/records.py` writes it, and `cargo xtask packages` sets the variable.
const folder = process.env.TOOLMEND_CORPUS;

function answer(record, policy) {
  const { finish_reason: finishReason, dialect, model, reasoning_open: reasoningOpen } = record;
  if ('json' in record) return fix(record.json, record.schema, { policy, finishReason }).toJSON();
  const mender = new Mender(record.tools, { policy, lenient: true });
  if ('tool' in record) {
    return { tool: record.tool, ...mender.mend(record.tool, record.arguments, { finishReason }).toJSON() };
  }
  const { tool_choice, response_format, parallel_tool_calls, calls } = record;
  const request = { tool_choice, response_format, parallel_tool_calls, calls };
  const options = { dialect, model, reasoningOpen, request };
  const fields =
    'text' in record
      ? mender.turn(record.text, { ...options, finishReason }).toJSON()
      : readStream(mender.createStream(options), record.chunks, finishReason);
  const notes = [...(fields.notes ?? []), ...mender.notes];
  return notes.length > 0 ? { ...fields, notes } : fields;
}

/** Returns the fields of a turn, built from the events of a stream. */
function readStream(stream, chunks, finishReason) {
  const events = [...chunks.flatMap((chunk) => stream.push(chunk)), ...stream.finish(finishReason)];
  const text = (type) => events.filter((event) => event.type === type).map((event) => event.text);
  const calls = events.filter((event) => event.call).map((event) => event.call);
  const order = ['clean', 'mended', 'truncated', 'rejected'];
  const repairs = events.filter((event) => event.type === 'removed').map(({ repair: { kind, path, at } }) => ({ kind, path, at }));
  const worst = Math.max(repairs.length > 0 ? 1 : 0, ...calls.map((call) => order.indexOf(call.outcome)));
  const fields = { outcome: order[worst], content: text('content').join(''), calls: calls.map((call) => call.toJSON()) };
  const [reasoning, notes] = [text('reasoning').join(''), text('note')];
  if (reasoning !== '') fields.reasoning = reasoning;
  if (notes.length > 0) fields.notes = notes;
  if (repairs.length > 0) fields.repairs = repairs;
  return fields;
}

/** Returns what the events of a stream say: they hold no verdict on the whole content. */
function inPieces(wanted) {
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => !name.startsWith('content_')));
}

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
      const wanted = 'chunks' in record ? inPieces(expected[index]) : expected[index];
      assert.deepEqual({ id: record.id, ...answer(record, policy) }, wanted);
    });
  });
}
