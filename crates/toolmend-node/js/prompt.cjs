'use strict';

// What a model reads besides the messages themselves: notes before the results of tools, and for models without tools, everything about
// tools as text.

// Servers run for weeks, so the oldest are forgotten.
const MAX_CALLS = 1024;
const notesOfCalls = new Map();

/** Remembers the notes of a call by its id. Without notes, nothing happens. */
function rememberNotes(toolCallId, notes) {
  if (notes.length === 0) return;
  notesOfCalls.set(toolCallId, notes.join('\n'));
  if (notesOfCalls.size > MAX_CALLS) notesOfCalls.delete(notesOfCalls.keys().next().value);
}

/** Returns a message with the notes before the results in it. */
function addNotes(message) {
  if (notesOfCalls.size === 0 || message.role !== 'tool') return message;
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
      return output.value.startsWith(notes) ? output : { ...output, value: `${notes}\n${output.value}` };
    case 'json':
      return { type: 'content', value: [text, { type: 'text', text: JSON.stringify(output.value) }] };
    case 'content':
      return output.value[0]?.text === notes ? output : { ...output, value: [text, ...output.value] };
    default:
      return output;
  }
}

/** Describes tools, and how to call them. */
function describeTools(tools, toolChoice) {
  const lines = tools.map(({ name, description, inputSchema }) => {
    return JSON.stringify({ name, description, parameters: inputSchema });
  });
  return [
    'You can call these tools:',
    '<tools>',
    ...lines,
    '</tools>',
    'To call a tool, write a JSON object with its name and its arguments between these tags:',
    '<tool_call>',
    '{"name": "the name of the tool", "arguments": {}}',
    '</tool_call>',
    'The results come in the next message. Never write a result yourself.',
    ...describeChoice(toolChoice),
  ].join('\n');
}

function describeChoice(toolChoice) {
  if (toolChoice?.type === 'required') return ['Call a tool now.'];
  return toolChoice?.type === 'tool' ? [`Call the tool ${toolChoice.toolName} now.`] : [];
}

/** Writes the calls and results of a message as text. */
function toPlainMessage(message) {
  if (message.role === 'assistant') {
    const content = message.content.map((part) => (part.type === 'tool-call' ? { type: 'text', text: writeCall(part) } : part));
    return { ...message, content: joinTexts(content) };
  }
  if (message.role !== 'tool') return message;
  const results = message.content.filter(({ type }) => type === 'tool-result');
  return { role: 'user', content: [{ type: 'text', text: results.map(writeResult).join('\n') }] };
}

function writeCall({ toolName, input }) {
  return `<tool_call>\n${JSON.stringify({ name: toolName, arguments: input })}\n</tool_call>`;
}

function writeResult({ toolName, output }) {
  return `<tool_response>\n${JSON.stringify({ name: toolName, content: readOutput(output) })}\n</tool_response>`;
}

function readOutput(output) {
  if (output.type === 'content') return output.value.map((part) => part.text ?? `[${part.mediaType ?? part.type}]`).join('\n');
  if (output.type === 'execution-denied') return `The user did not allow this call. ${output.reason ?? ''}`.trimEnd();
  return output.value;
}

/** Some servers take one text for each message. */
function joinTexts(content) {
  const joined = [];
  for (const part of content) {
    const last = joined.at(-1);
    if (part.type === 'text' && last?.type === 'text') joined[joined.length - 1] = { ...last, text: `${last.text}\n${part.text}` };
    else joined.push(part);
  }
  return joined;
}

module.exports = { addNotes, describeTools, rememberNotes, toPlainMessage };
