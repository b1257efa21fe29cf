// The records that `cargo xtask wasm` writes, with the answers of the command.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.TOOLMEND_RECORDS;

const readLines = (file) => readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));

/** Returns every file of records: its name, its policy, the records and the answers. */
export function readRecords() {
  const files = readdirSync(folder).filter((name) => name.endsWith('.records'));
  return files.map((file) => {
    const name = file.replace('.records', '');
    // The corpus has a file for each policy.
    return { name, policy: name === 'cases' ? 'balanced' : name, records: readLines(file), answers: readLines(`${name}.answers`) };
  });
}
