// The public API of both builds, in Node.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import test from 'node:test';
import init, * as full from '@toolmend/wasm';
import * as light from '@toolmend/wasm/light';

const folder = dirname(fileURLToPath(import.meta.resolve('@toolmend/wasm/package.json')));
const SCHEMA = { type: 'object', properties: { limit: { type: 'integer' } } };

test('JSON text is read by both builds', async () => {
  await init();
  for (const { fix, parse, jsonrepair, MendError } of [full, light]) {
    assert.deepEqual(parse("{'a': True, b: [1, 2,],}"), { a: true, b: [1, 2] });
    assert.equal(parse('"\u{1f600}é"'), '\u{1f600}é');
    assert.equal(jsonrepair('{a: 1}'), '{"a": 1}');
    assert.throws(() => jsonrepair('{"a": "cut o'), ({ position }) => position === 12);
    assert.throws(() => parse('{"a": "cut o'), (error) => error instanceof MendError && error.verdict.cut === '/a');
    assert.deepEqual(fix("{'a': 1,}").repairs.map(({ kind }) => kind), ['quotes_replaced', 'trailing_comma_removed']);
    assert.equal(fix("{'a': 1}", undefined, { policy: 'strict' }).outcome, 'rejected');
  }
});

test('only the full build reads schemas', () => {
  assert.deepEqual(full.parse('{"limit": "3"}', SCHEMA), { limit: 3 });
  assert.throws(() => full.parse('{}', { type: 'objekt' }), /broken schema at \/type/);
  assert.throws(() => light.parse('{}', SCHEMA), /reads no schemas/);
  assert.equal(light.Mender, undefined);
});

test('calls are found, whole and in pieces', () => {
  const output = 'Hi.<tool_call>{"name": "f", "arguments": {limit: "3"}}</tool_call>';
  const mender = new full.Mender([{ name: 'f', parameters: SCHEMA }]);
  assert.deepEqual(mender.toolNames, ['f']);
  const turn = mender.turn(output);
  assert.equal(turn.content, 'Hi.');
  assert.deepEqual(turn.calls[0].arguments, { limit: 3 });

  const bytes = new TextEncoder().encode(output);
  const stream = mender.createStream();
  const events = [...bytes].flatMap((byte) => stream.push(Uint8Array.of(byte))).concat(stream.finish('stop'));
  assert.deepEqual(events.find(({ type }) => type === 'call-end').call.arguments, { limit: 3 });
  const preview = new full.Preview();
  preview.push('{"a": "half a wo');
  assert.deepEqual(preview.value, { a: 'half a wo' });
  assert.equal(mender.mend('f', { limit: '3' }).repairs[0].at, null);
  assert.equal(mender.answer('{"limit": "3",}', { type: 'json_schema', json_schema: { schema: SCHEMA } }).json, '{"limit": 3}');
});

test('the tables are those of the command', () => {
  const ask = (table) => JSON.parse(execFileSync(process.env.TOOLMEND_BINARY, [table, '--format', 'json'], { encoding: 'utf8' }));
  assert.deepEqual(full.repairs(), ask('repairs'));
  assert.deepEqual(light.repairs(), ask('repairs'));
  assert.deepEqual(full.dialects(), ask('dialects'));
});

test('in browsers nothing works before the module is loaded', async () => {
  for (const build of ['full', 'light']) {
    const web = await import(pathToFileURL(join(folder, build, 'web.mjs')));
    assert.throws(() => web.fix('[1,]'), /await init\(\)/);
    await assert.rejects(web.default(new Uint8Array([1, 2, 3])));
    const module = readFileSync(join(folder, build, 'toolmend.wasm'));
    await web.default(module);
    await web.default();
    assert.equal(web.fix('[1,]').json, '[1]');
  }
});

test('a worker starts the module that its build compiled', () => {
  // Node imports no WebAssembly file by default, so the import is replaced.
  for (const build of ['full', 'light']) {
    const script = readFileSync(join(folder, build, 'worker.mjs'), 'utf8');
    const [line] = script.match(/^import (\w+) from "\.\/toolmend\.wasm";$/m);
    const name = line.split(' ')[1];
    const file = JSON.stringify(join(folder, build, 'toolmend.wasm'));
    const code = `import { readFileSync } from 'node:fs'; const ${name} = new WebAssembly.Module(readFileSync(${file}));`;
    const source = `${script.replace(line, code)}\nif (fix("[1,]").json !== "[1]") throw new Error("wrong");`;
    execFileSync(process.execPath, ['--input-type=module'], { input: source });
  }
});
