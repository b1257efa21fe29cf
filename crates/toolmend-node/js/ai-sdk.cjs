'use strict';

// Vercel AI SDK: the function for its option `repairToolCall`. The SDK parses and validates the result.

const { Mender } = require('./index.cjs');

async function repairToolCall({ toolCall, tools, inputSchema }) {
  const names = Object.keys(tools ?? {});
  const schemas = await Promise.all(names.map((toolName) => inputSchema({ toolName })));
  const definitions = names.map((name, index) => ({ name, parameters: schemas[index] }));
  const verdict = new Mender(definitions, { lenient: true }).mend(toolCall.toolName, toolCall.input);
  return verdict.json === null ? null : { ...toolCall, toolName: verdict.tool, input: verdict.json };
}

module.exports = { repairToolCall };
