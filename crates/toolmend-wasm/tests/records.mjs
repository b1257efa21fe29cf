// Writes a folder of cases as records of the batch protocol, and the answers of the command:
//
//     records.mjs CASES FOLDER TOOLMEND
//
// A line of a file in CASES is `{"id", "input": {…}}`, in which the input has the fields of a record.

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [cases, folder, binary] = process.argv.slice(2);

/** Returns the record of a case, or nothing if its input is not one. */
function toRecord(id, { json, tool, schema, chunks, ...others }) {
  if (json !== undefined) return { id, json, schema };
  if (chunks !== undefined) return chunks.every((chunk) => typeof chunk === 'string') ? { id, chunks, ...others } : undefined;
  if (others.arguments === undefined) return others.text === undefined ? undefined : { id, ...others };
  const name = tool ?? 'tool';
  return { id, tool: name, tools: schema === undefined ? [] : [{ name, parameters: schema }], ...others };
}

const files = readdirSync(cases).filter((name) => name.endsWith('.jsonl'));
const read = (file) => readFileSync(join(cases, file), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
const records = files.flatMap((file) => read(file).map(({ input }, index) => toRecord(`${file}:${index + 1}`, input)));
const lines = records.filter((record) => record !== undefined).map((record) => `${JSON.stringify(record)}\n`).join('');
writeFileSync(join(folder, 'cases.records'), lines);
writeFileSync(join(folder, 'cases.answers'), execFileSync(binary, ['batch'], { input: lines, maxBuffer: 1 << 30 }));
