// Measures the package against JSON.parse on valid text and against jsonrepair on all text, as ratios of one run.
//
// Measures processor time, because the machine may be shared. Every figure is the best of several rounds, and the functions
// take turns.

import assert from 'node:assert/strict';
import { jsonrepair } from 'jsonrepair';
import { parse } from 'toolmend';

const ROUNDS = 15;

const call = { path: 'src/main.rs', old: 'let a = 1;\n', new: 'let a = 2;\n', count: 3, force: false };
const records = Array.from({ length: 400 }, (_, n) => ({
  id: n,
  name: `record ${n}`,
  score: n / 7,
  tags: ['a', 'b'],
  address: { city: 'Voss', zip: null },
}));
const file = { path: 'a.py', content: 'def f(x):\n\treturn "x"\n'.repeat(800) };

const singleQuotes = (value) => JSON.stringify(value).replaceAll('"', "'");
const trailingCommas = (value) => JSON.stringify(value, null, 1).replaceAll(/\n( *[}\]])/g, ',\n$1');
const fenced = (value) => '```json\n' + JSON.stringify(value) + '\n```';
const bareKeys = (value) => JSON.stringify(value).replaceAll(/"(\w+)":/g, '$1:');

const texts = { 'a call': call, '400 records': records, 'a file in a string': file };
const broken = { 'single quotes': singleQuotes, 'trailing commas': trailingCommas, fenced, 'bare keys': bareKeys };

const processorTime = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Returns the microseconds of one run of each function. */
function measure(functions) {
  const measured = functions.map((run) => {
    const start = processorTime();
    for (let n = 0; n < 20; n++) run();
    const one = Math.max((processorTime() - start) / 20, 0.1);
    return { run, repeats: Math.max(1, Math.floor(20_000 / one)), time: Infinity };
  });
  for (let round = 0; round < ROUNDS; round++) {
    for (const it of measured) {
      const start = processorTime();
      for (let n = 0; n < it.repeats; n++) it.run();
      it.time = Math.min(it.time, (processorTime() - start) / it.repeats);
    }
  }
  return measured.map(({ time }) => time);
}

function isRight(run, wanted) {
  try {
    assert.deepEqual(run(), wanted);
    return true;
  } catch {
    return false;
  }
}

const missed = [];
const formatTime = (time) => `${time.toFixed(2)} µs`.padStart(14);

console.log(`Node, valid text: ${'JSON.parse'.padStart(30)} ${'toolmend'.padStart(14)}   times   jsonrepair`);
for (const [name, value] of Object.entries(texts)) {
  const text = JSON.stringify(value);
  const [plain, ours, theirs] = measure([() => JSON.parse(text), () => parse(text), () => JSON.parse(jsonrepair(text))]);
  console.log(
    `  ${name.padEnd(32)}${formatTime(plain)} ${formatTime(ours)}   ${(ours / plain).toFixed(2)}    ${(theirs / ours).toFixed(1)} times ours`,
  );
  if (theirs < ours) missed.push(`${name}, valid: slower than jsonrepair`);
}

console.log(`Node, broken text: ${'toolmend'.padStart(29)} ${'jsonrepair'.padStart(14)}`);
for (const [name, value] of Object.entries(texts)) {
  for (const [kind, damage] of Object.entries(broken)) {
    const text = damage(value);
    const [ours, theirs] = [() => parse(text), () => JSON.parse(jsonrepair(text))];
    if (kind === 'single quotes' && value === file) continue; // the quotes in the file would end the string
    if (!isRight(ours, value)) missed.push(`${name}, ${kind}: toolmend is wrong`);
    const isComparable = isRight(theirs, value);
    const [first, second] = measure(isComparable ? [ours, theirs] : [ours]);
    const cell = isComparable ? `${(second / first).toFixed(1)} times` : 'wrong';
    console.log(`  ${`${name}, ${kind}`.padEnd(32)}${formatTime(first)} ${cell.padStart(14)}`);
    if (isComparable && second < first) missed.push(`${name}, ${kind}: slower than jsonrepair`);
  }
}
for (const target of missed) console.log(`missed: ${target}`);
process.exitCode = missed.length > 0 ? 1 : 0;
