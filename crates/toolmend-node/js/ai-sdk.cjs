'use strict';

// Vercel AI SDK: the functions for its options `repairToolCall` and `prepareStep`. The SDK parses and validates repaired calls.

const { Mender } = require('./index.cjs');

// The notes about mended calls, by their ids. Servers run for weeks, so the oldest are forgotten.
const MAX_CALLS = 1024;
const notesOfCalls = new Map();

async function repairToolCall({ toolCall, tools, inputSchema }) {
  const names = Object.keys(tools ?? {});
  const schemas = await Promise.all(names.map((toolName) => inputSchema({ toolName })));
  const definitions = names.map((name, index) => ({ name, parameters: schemas[index] }));
  const verdict = new Mender(definitions, { lenient: true }).mend(toolCall.toolName, toolCall.input);
  if (verdict.json === null) return null;
  rememberNotes(toolCall.toolCallId, verdict.notes);
  return { ...toolCall, toolName: verdict.tool, input: verdict.json };
}

function rememberNotes(toolCallId, notes) {
  if (notes.length === 0) return;
  notesOfCalls.set(toolCallId, notes.join('\n'));
  if (notesOfCalls.size > MAX_CALLS) notesOfCalls.delete(notesOfCalls.keys().next().value);
}

function prepareStep({ messages }) {
  return notesOfCalls.size === 0 ? undefined : { messages: messages.map(addNotes) };
}

function addNotes(message) {
  if (message.role !== 'tool') return message;
  const content = message.content.map((part) => {
    const notes = part.type === 'tool-result' ? notesOfCalls.get(part.toolCallId) : undefined;
    return notes === undefined ? part : { ...part, output: prependNotes(notes, part.output) };
  });
  return { ...message, content };
}

function prependNotes(notes, output) {
  const text = { type: 'text', text: notes };
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${notes}\n${output.value}` };
    case 'json':
      return { type: 'content', value: [text, { type: 'text', text: JSON.stringify(output.value) }] };
    case 'content':
      return { ...output, value: [text, ...output.value] };
    default:
      return output;
  }
}

module.exports = { prepareStep, repairToolCall };
