// Records of the batch protocol, answered by a package. Runs in browsers, too.

/** Returns the answer of a package, `{ Mender, fix }`, to a record of the batch protocol. */
export function answerRecord(toolmend, record, policy) {
  return { id: record.id, ...answer(toolmend, record, policy) };
}

/** Returns what the answer must be, if this is the answer of the command. The events of a stream hold no verdict on the whole content. */
export function expectedAnswer(record, wanted) {
  if (!('chunks' in record)) return wanted;
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => !name.startsWith('content_')));
}

function answer({ Mender, fix }, record, policy) {
  const finishReason = record.finish_reason;
  if ('json' in record) return fix(record.json, record.schema, { policy, finishReason }).toJSON();
  const mender = new Mender(record.tools, { policy, lenient: true });
  const fields = 'tool' in record ? mendCall(mender, record, finishReason) : readOutput(mender, record, finishReason);
  const notes = [...(fields.notes ?? []), ...mender.notes];
  return notes.length > 0 ? { ...fields, notes } : fields;
}

function mendCall(mender, record, finishReason) {
  return { tool: record.tool, ...mender.mend(record.tool, record.arguments, { finishReason }).toJSON() };
}

function readOutput(mender, record, finishReason) {
  const { dialect, model, reasoning_open: reasoningOpen } = record;
  const { tool_choice, response_format, parallel_tool_calls, calls } = record;
  const request = { tool_choice, response_format, parallel_tool_calls, calls };
  const options = { dialect, model, reasoningOpen, request };
  return 'text' in record
    ? mender.turn(record.text, { ...options, finishReason }).toJSON()
    : readStream(mender.createStream(options), record.chunks, finishReason);
}

/** Returns the fields of a turn, built from the events of a stream. */
function readStream(stream, chunks, finishReason) {
  const events = [...chunks.flatMap((chunk) => stream.push(chunk)), ...stream.finish(finishReason)];
  const text = (type) => events.filter((event) => event.type === type).map((event) => event.text);
  const calls = events.filter((event) => event.call).map((event) => event.call);
  const order = ['clean', 'mended', 'truncated', 'rejected'];
  const repairs = events.filter((event) => event.type === 'removed').map(({ repair: { kind, path, at } }) => ({ kind, path, at }));
  const worst = Math.max(repairs.length > 0 ? 1 : 0, ...calls.map((call) => order.indexOf(call.outcome)));
  const fields = { outcome: order[worst], content: text('content').join(''), calls: calls.map((call) => call.toJSON()) };
  const [reasoning, notes] = [text('reasoning').join(''), text('note')];
  if (reasoning !== '') fields.reasoning = reasoning;
  if (notes.length > 0) fields.notes = notes;
  if (repairs.length > 0) fields.repairs = repairs;
  return fields;
}
