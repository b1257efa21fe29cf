// `toolmend mcp` with the reference server of the protocol and the client of its SDK.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const found = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json');
const serverScript = join(dirname(found), 'dist/index.js');
const direct = [process.execPath, serverScript, 'stdio'];
const proxied = [process.env.TOOLMEND_BINARY, 'mcp', '--', ...direct];

async function withClient([command, ...args], use) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Calls a tool after listing the tools, as hosts do. */
function callTool(server, name, args) {
  return withClient(server, async (client) => {
    await client.listTools();
    return client.callTool({ name, arguments: args }).then(
      (result) => ({ failed: result.isError === true, text: result.content[0]?.text }),
      (error) => ({ failed: true, text: error.message }),
    );
  });
}

test('the proxy does not change what the server lists and answers', async () => {
  const look = async (client) => [
    await client.listTools(),
    await client.listResources(),
    client.getServerCapabilities(),
    await client.callTool({ name: 'echo', arguments: { message: 'Grüße' } }),
  ];
  assert.deepEqual(await withClient(proxied, look), await withClient(direct, look));
});

for (const [damage, name, args] of [
  ['numbers as strings', 'get-sum', { a: '2', b: '3' }],
  ['keys in another spelling', 'get-sum', { A: 2, 'B': 3 }],
  ['a name in another spelling', 'getSum', { a: 2, b: 3 }],
  ['all arguments in a string, nearly JSON', 'get-sum', "{'a': 2, b: 3,}"],
]) {
  test(`damaged arguments: ${damage}`, async () => {
    assert.equal((await callTool(direct, name, args)).failed, true, 'without the proxy the call fails');
    const { failed, text } = await callTool(proxied, name, args);
    assert.equal(failed, false);
    assert.match(text, /5/);
  });
}

test('a call that cannot be mended is answered with feedback for the model', async () => {
  const { failed, text } = await callTool(proxied, 'get-sum', { a: 2 });
  assert.equal(failed, true);
  assert.match(text, /get-sum.*\n.*b/);
});

test('the model reads which values were filled in before the result', async () => {
  const script = join(import.meta.dirname, 'relational.server.mjs');
  const { content } = await withClient([process.env.TOOLMEND_BINARY, 'mcp', '--', process.execPath, script], async (client) => {
    await client.listTools();
    return client.callTool({ name: 'read', arguments: { path: 'a.txt', limit: 30 } });
  });
  assert.match(content[0].text, /^Note: limit came without offset; the declared default was used: offset=0/);
  assert.deepEqual(JSON.parse(content[1].text), { path: 'a.txt', limit: 30, offset: 0 });
});
