'use strict';

/** A value that a refusal shows: its text where it is no JSON. */
function shown(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Without the fields that are not there. */
function defined(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** What became of a text or a call. Values are read when they are asked for. */
class Verdict {
  #told;
  #arguments;

  constructor(told) {
    this.#told = told;
    this.outcome = told.outcome;
    this.runs = told.outcome === 'clean' || told.outcome === 'mended';
    this.tool = told.tool;
    this.json = told.json;
    this.text = told.text;
    this.repairs = told.repairs;
    this.notes = told.notes;
    this.feedback = told.feedback;
    this.reason = told.reason ?? null;
    this.message = told.message || null;
    this.cut = told.cut ?? null;
    this.violations = told.violations ?? [];
  }

  get arguments() {
    if (this.#arguments === undefined && this.json !== null) this.#arguments = JSON.parse(this.json);
    return this.#arguments;
  }

  get value() {
    return this.arguments;
  }

  get values() {
    return this.#told.values.map(shown);
  }

  get readings() {
    return (this.#told.readings ?? []).map(shown);
  }

  get partial() {
    const text = this.#told.partial;
    return typeof text === 'string' ? shown(text) : undefined;
  }

  /** The fields of the batch protocol, with the JSON under `arguments` where there is a tool, else under `value`. */
  toJSON() {
    const tool = this.tool ?? undefined;
    const fields = { outcome: this.outcome, tool };
    if (this.runs && this.values.length > 0) {
      fields.calls = this.values.map((value) =>
        defined({ name: tool, arguments: value, outcome: this.outcome }),
      );
    }
    return defined({ ...fields, ...this.fields(tool === undefined ? 'value' : 'arguments', this.text) });
  }

  /** What every answer of the batch protocol has. */
  fields(name, raw) {
    const { repairs, notes, values, readings } = this;
    const fields = { repairs: repairs.map(({ kind, path, at }) => defined({ kind, path, at: at ?? undefined })) };
    if (this.json !== null) fields[name] = this.value;
    if (notes.length > 0) fields.notes = notes;
    if (this.runs) return fields;
    if (values.length > 0) fields.values = values;
    if (readings.length > 0) fields.readings = readings;
    const { partial } = this;
    const [reason, cut] = [this.reason ?? undefined, this.cut ?? undefined];
    return { ...fields, reason, cut, partial, feedback: this.feedback ?? this.message ?? undefined, raw };
  }
}

/** One call that was found in a model's output. */
class Call {
  constructor(told) {
    this.name = told.name;
    this.id = told.id;
    this.source = told.source;
    this.dialect = told.dialect;
    this.at = told.at;
    this.raw = told.raw;
    this.verdict = new Verdict(told.verdict);
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
    return defined({ name, id: this.id ?? undefined, outcome, source, dialect, ...this.verdict.fields('arguments', this.raw) });
  }
}

/** A whole model output, taken apart. */
class Turn {
  constructor(told) {
    this.outcome = told.outcome;
    this.content = told.content;
    this.reasoning = told.reasoning;
    this.calls = told.calls.map((call) => new Call(call));
    this.notes = told.notes;
  }

  toJSON() {
    const { outcome, content, calls } = this;
    const fields = { outcome, content, calls: calls.map((call) => call.toJSON()) };
    if (this.reasoning !== '') fields.reasoning = this.reasoning;
    if (this.notes.length > 0) fields.notes = this.notes;
    return fields;
  }
}

/** A text that is no JSON and was not mended. It is a `SyntaxError`, as that of `JSON.parse`. */
class MendError extends SyntaxError {
  constructor(verdict) {
    super(verdict.feedback ?? verdict.message ?? 'no JSON');
    this.name = 'MendError';
    this.verdict = verdict;
  }
}

module.exports = { Call, MendError, Turn, Verdict };
