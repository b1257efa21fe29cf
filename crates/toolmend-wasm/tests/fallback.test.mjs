// The Node package runs on the WebAssembly module where no native module is built.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Mender, createStream, fix, parse } from './node_package/js/index.mjs';

test('the Node package works without its native module', () => {
  assert.deepEqual(parse("{'a': 1,}"), { a: 1 });
  assert.deepEqual(parse('{"n": "1"}', { properties: { n: { type: 'integer' } } }), { n: 1 });
  assert.equal(fix('{"a": "cut o').outcome, 'truncated');
  assert.throws(() => new Mender('{'), /tools/);
  const stream = createStream(['f']);
  const events = [...stream.push(new TextEncoder().encode('Hi.')), ...stream.finish('stop')];
  assert.deepEqual(events, [{ type: 'content', text: 'Hi.' }]);
});
