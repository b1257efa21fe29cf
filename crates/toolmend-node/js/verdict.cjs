'use strict';

/** Parses a value, or returns its text if that is not JSON. */
function parseOrText(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the object without its undefined fields. */
function withoutUndefined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Reads the repairs of the native module. */
function readRepairs(encoded) {
  return encoded.map((repair) => ({ ...repair, at: repair.at ?? null }));
}

/** Writes repairs as the batch protocol does, without what the table of repairs says. */
function writeRepairs(repairs) {
  return repairs.map(({ kind, path, at }) => withoutUndefined({ kind, path, at: at ?? undefined }));
}

/** The outcome of mending a text or a call. JSON values are parsed when they are first read. */
class Verdict {
  // What the native module wrote: the fields of the batch protocol in detail, with JSON values as text.
  #encoded;
  #arguments;

  constructor(encoded) {
    this.#encoded = encoded;
    this.outcome = encoded.outcome;
    this.runs = encoded.outcome === 'clean' || encoded.outcome === 'mended';
    this.tool = encoded.tool ?? null;
    this.json = encoded.json ?? null;
    this.text = this.json;
    this.repairs = readRepairs(encoded.repairs);
    this.notes = encoded.notes ?? [];
    this.feedback = encoded.feedback ?? null;
    this.reason = encoded.reason ?? null;
    this.message = encoded.message ?? null;
    this.cut = encoded.cut ?? null;
    this.violations = (encoded.violations ?? []).map(({ schema_path: schemaPath, ...found }) => ({ ...found, schemaPath }));
  }

  get arguments() {
    if (this.#arguments === undefined && this.json !== null) this.#arguments = JSON.parse(this.json);
    return this.#arguments;
  }

  get value() {
    return this.arguments;
  }

  get values() {
    const { calls, values } = this.#encoded;
    return (calls?.map((call) => call.arguments) ?? values ?? []).map(parseOrText);
  }

  get readings() {
    return (this.#encoded.readings ?? []).map(parseOrText);
  }

  get partial() {
    const { partial } = this.#encoded;
    return partial === undefined ? undefined : parseOrText(partial);
  }

  /** The fields of the batch protocol, with the JSON under `arguments` for a call of a tool, otherwise under `value`. */
  toJSON() {
    const tool = this.tool ?? undefined;
    const calls = this.#encoded.calls?.map((call) => ({ ...call, arguments: parseOrText(call.arguments) }));
    return withoutUndefined({ outcome: this.outcome, tool, calls, ...this.fields(tool === undefined ? 'value' : 'arguments') });
  }

  /** The fields that verdicts and calls have in common. */
  fields(name) {
    const { values, readings, reason, cut, partial, feedback, raw, notes } = this.#encoded;
    const fields = { repairs: writeRepairs(this.repairs), notes };
    if (this.json !== null) fields[name] = this.value;
    if (this.runs) return fields;
    return {
      ...fields,
      reason,
      values: values?.map(parseOrText),
      readings: readings?.map(parseOrText),
      cut,
      partial: partial === undefined ? undefined : this.partial,
      feedback,
      raw,
    };
  }
}

/** A call in a model's output. */
class Call {
  constructor(encoded) {
    this.name = encoded.name;
    this.id = encoded.id ?? null;
    this.source = encoded.source;
    this.dialect = encoded.dialect;
    this.at = encoded.at;
    this.raw = encoded.raw;
    this.verdict = new Verdict(encoded);
  }

  get outcome() {
    return this.verdict.outcome;
  }

  get runs() {
    return this.verdict.runs;
  }

  get json() {
    return this.verdict.json;
  }

  get arguments() {
    return this.verdict.arguments;
  }

  toJSON() {
    const { name, outcome, source, dialect } = this;
    return withoutUndefined({ name, id: this.id ?? undefined, outcome, source, dialect, ...this.verdict.fields('arguments') });
  }
}

/** A model output, split into content, reasoning and calls. */
class Turn {
  constructor(encoded) {
    this.outcome = encoded.outcome;
    this.content = encoded.content;
    this.reasoning = encoded.reasoning ?? '';
    this.calls = encoded.calls.map((call) => new Call(call));
    this.notes = encoded.notes ?? [];
    this.repairs = readRepairs(encoded.repairs ?? []);
    this.answer = encoded.answer ? new Verdict(encoded.answer) : null;
  }

  toJSON() {
    const { outcome, content, calls, answer } = this;
    const fields = { outcome, content, calls: calls.map((call) => call.toJSON()) };
    if (answer !== null) {
      fields.content_outcome = answer.outcome;
      fields.content_repairs = writeRepairs(answer.repairs);
      if (answer.reason !== null) fields.content_reason = answer.reason;
      if (answer.feedback !== null) fields.content_feedback = answer.feedback;
    }
    if (this.repairs.length > 0) fields.repairs = writeRepairs(this.repairs);
    if (this.reasoning !== '') fields.reasoning = this.reasoning;
    if (this.notes.length > 0) fields.notes = this.notes;
    return fields;
  }
}

/** The text is not JSON and cannot be mended. This is a `SyntaxError`, like the error of `JSON.parse`. */
class MendError extends SyntaxError {
  constructor(verdict) {
    super(verdict.feedback ?? verdict.message ?? 'not JSON');
    this.name = 'MendError';
    this.verdict = verdict;
  }
}

module.exports = { Call, MendError, Turn, Verdict };
