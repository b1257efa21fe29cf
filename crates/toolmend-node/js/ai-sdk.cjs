'use strict';

// Vercel AI SDK: functions for its options `repairToolCall` and `prepareStep`, and middleware for models.

const { Mender } = require('./index.cjs');
const { createMiddleware } = require('./language-model.cjs');
const { addNotes, rememberNotes } = require('./prompt.cjs');

async function repairToolCall({ toolCall, tools, inputSchema }) {
  const names = Object.keys(tools ?? {});
  const schemas = await Promise.all(names.map((toolName) => inputSchema({ toolName })));
  const definitions = names.map((name, index) => ({ name, parameters: schemas[index] }));
  const verdict = new Mender(definitions, { lenient: true }).mend(toolCall.toolName, toolCall.input);
  if (verdict.json === null) return null;
  rememberNotes(toolCall.toolCallId, verdict.notes);
  return { ...toolCall, toolName: verdict.tool, input: verdict.json };
}

function prepareStep({ messages }) {
  const noted = messages.map(addNotes);
  return noted.every((message, index) => message === messages[index]) ? undefined : { messages: noted };
}

/** Mends the calls of a model, also those that it writes into its text. */
function mendingMiddleware(options) {
  return createMiddleware({ ...options, describesTools: false });
}

/** Gives tools to a model that has no support for them: describes them in the prompt, and reads the calls in the text. */
function toolMiddleware(options) {
  return createMiddleware({ ...options, describesTools: true });
}

module.exports = { mendingMiddleware, prepareStep, repairToolCall, toolMiddleware };
