'use strict';

// Vercel AI SDK: the function that its option `repairToolCall` takes. The SDK parses and validates what it returns.

const { Mender } = require('./index.cjs');

async function repairToolCall({ toolCall, tools, inputSchema }) {
  const names = Object.keys(tools ?? {});
  const schemas = await Promise.all(names.map((toolName) => inputSchema({ toolName })));
  const declared = names.map((name, index) => ({ name, parameters: schemas[index] }));
  const verdict = new Mender(declared, { lenient: true }).mend(toolCall.toolName, toolCall.input);
  return verdict.json === null ? null : { ...toolCall, toolName: verdict.tool, input: verdict.json };
}

module.exports = { repairToolCall };
