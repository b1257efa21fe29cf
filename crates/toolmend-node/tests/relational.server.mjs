// An MCP server whose tool has fields that belong together. It answers with its arguments.

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const inputSchema = {
  type: 'object',
  properties: { path: { type: 'string' }, offset: { type: 'integer' }, limit: { type: 'integer' } },
  required: ['path'],
  'x-toolmend': { relational: [{ fields: ['offset', 'limit'], default: { offset: 0, limit: 2000 } }] },
};
const server = new Server({ name: 'relational', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: 'read', inputSchema }] }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
  content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
}));
await server.connect(new StdioServerTransport());
