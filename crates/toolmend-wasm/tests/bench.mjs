// Measures the WebAssembly module against the native module of the Node package, as ratios of one run:
//
//     bench.mjs ROOT RECORDS
//
// Both answer every record of the corpus in turn, through the same scripts. Every figure is the best of several rounds, in
// processor time, because the machine may be shared.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as wasm from '@toolmend/wasm';

const ROUNDS = 10;
const TARGET = 4;

const [root, folder] = process.argv.slice(2);
const native = createRequire(import.meta.url)(join(root, 'crates/toolmend-node/js/index.cjs'));

const records = readFileSync(join(folder, 'balanced.records'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));

/** Returns what a package does with these records. Tools are compiled before, as in a program that uses them often. */
function prepare({ Mender, fix }, chosen) {
  return chosen.map((record) => {
    const { finish_reason: finishReason, model, dialect, reasoning_open: reasoningOpen } = record;
    if ('json' in record) return () => fix(record.json, record.schema, { finishReason });
    const mender = new Mender(record.tools, { lenient: true });
    if ('tool' in record) return () => mender.mend(record.tool, record.arguments, { finishReason });
    const options = { model, dialect, reasoningOpen };
    if ('text' in record) return () => mender.turn(record.text, { ...options, finishReason });
    return () => {
      const stream = mender.createStream(options);
      record.chunks.forEach((chunk) => stream.push(chunk));
      return stream.finish(finishReason);
    };
  });
}

function measure(steps) {
  const { user, system } = process.cpuUsage();
  for (const step of steps) step();
  const after = process.cpuUsage();
  return after.user + after.system - user - system;
}

const kinds = {
  'JSON text': (record) => 'json' in record,
  'calls of a tool': (record) => 'tool' in record,
  'whole outputs': (record) => 'text' in record,
  'outputs in pieces': (record) => 'chunks' in record,
};

const missed = [];
console.log(`the corpus${'records'.padStart(20)}${'native'.padStart(12)}${'wasm'.padStart(12)}   times`);
const total = { native: 0, wasm: 0 };
for (const [kind, isChosen] of Object.entries(kinds)) {
  const chosen = records.filter(isChosen);
  const [first, second] = [prepare(native, chosen), prepare(wasm, chosen)];
  let best = { native: Infinity, wasm: Infinity };
  for (let round = 0; round < ROUNDS; round++) {
    best = { native: Math.min(best.native, measure(first)), wasm: Math.min(best.wasm, measure(second)) };
  }
  total.native += best.native;
  total.wasm += best.wasm;
  print(kind, chosen.length, best);
}
print('all', records.length, total);
if (total.wasm > TARGET * total.native) missed.push(`wasm takes more than ${TARGET} times the native time`);

function print(kind, count, { native, wasm }) {
  const time = (micros) => `${(micros / 1000).toFixed(1)} ms`.padStart(12);
  console.log(`  ${kind.padEnd(18)}${String(count).padStart(10)}${time(native)}${time(wasm)}   ${(wasm / native).toFixed(2)}`);
}

for (const target of missed) console.log(`missed: ${target}`);
process.exitCode = missed.length > 0 ? 1 : 0;
