'use strict';

const native = require('./native.cjs');
const { isLibrarySchema, schemaOf, toDefinitions } = require('./schema.cjs');
const { Call, MendError, Turn, Verdict } = require('./verdict.cjs');

function toRules(policy) {
  return JSON.stringify(typeof policy === 'string' ? { preset: policy } : (policy ?? {}));
}

// Made when it is needed, because the WebAssembly module may be loaded later than this file.
let plainFixer;
// A schema is compiled once, for as long as its object exists.
const fixers = new WeakMap();

function fixerFor(schema, options) {
  if (schema === undefined && options === undefined) return (plainFixer ??= new native.Fixer(undefined, '{}', undefined));
  const compile = () => {
    const text = schema === undefined ? undefined : JSON.stringify(schemaOf(schema));
    return new native.Fixer(text, toRules(options?.policy), options?.finishReason);
  };
  if (options !== undefined || typeof schema !== 'object' || schema === null) return compile();
  let fixer = fixers.get(schema);
  if (fixer === undefined) fixers.set(schema, (fixer = compile()));
  return fixer;
}

/** Returns the value of a JSON text and mends the text if necessary. Replaces `JSON.parse`. */
function parse(text, schema, options) {
  // The second argument of `JSON.parse` is a function.
  const reviver = typeof schema === 'function' && !schema['~standard'] ? schema : undefined;
  const fixer = fixerFor(reviver ? undefined : schema, options);
  // What is not text is an error where it is one for `JSON.parse`.
  if (typeof text !== 'string') JSON.parse(text);
  const input = typeof text === 'string' ? text : String(text);
  const mended = fixer.parse(input);
  if (mended === undefined) throw new MendError(fix(input, reviver ? undefined : schema, options));
  return JSON.parse(mended === null ? input : mended, reviver);
}

/** Returns the verdict on a JSON text. */
function fix(text, schema, options) {
  return new Verdict(JSON.parse(fixerFor(schema, options).fix(text)));
}

/** Mends calls of a set of tools. */
class Mender {
  #native;

  constructor(tools, options = {}) {
    const text = typeof tools === 'string' ? tools : JSON.stringify(toDefinitions(tools));
    const { policy, feedbackLimit, lenient = false } = options;
    this.#native = new native.Mender(text, toRules(policy), feedbackLimit, lenient);
    this.notes = this.#native.notes();
    this.toolNames = this.#native.toolNames();
  }

  mend(tool, args, { finishReason } = {}) {
    const isText = typeof args === 'string';
    const text = isText ? args : (JSON.stringify(args) ?? 'null');
    return new Verdict(JSON.parse(this.#native.mend(tool, text, isText, finishReason)));
  }

  answer(text, format, { finishReason } = {}) {
    const schema = isLibrarySchema(format) && schemaOf(format);
    const asked = schema ? { type: 'json_schema', json_schema: { name: 'answer', schema } } : format;
    return new Verdict(JSON.parse(this.#native.answer(text, JSON.stringify(asked ?? {}), finishReason)));
  }

  turn(text, { dialect, model, reasoningOpen = false, finishReason, request } = {}) {
    const asked = request && JSON.stringify(request);
    return new Turn(JSON.parse(this.#native.turn(text, dialect, model, reasoningOpen, finishReason, asked)));
  }

  createStream({ dialect, model, reasoningOpen = false, live = false, previews = false, request } = {}) {
    const asked = request && JSON.stringify(request);
    return new OutputStream(this.#native.stream(dialect, model, reasoningOpen, live, previews, asked));
  }
}

/** Reads an output piece by piece. A piece may end anywhere. */
class OutputStream {
  #native;

  constructor(stream) {
    this.#native = stream;
  }

  push(piece) {
    const isText = typeof piece === 'string';
    return parseEvents(this.#native.push(isText ? piece : new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)));
  }

  finish(finishReason) {
    return parseEvents(this.#native.finish(finishReason));
  }

  /** Returns a web `TransformStream` from pieces to events. */
  transform({ finishReason } = {}) {
    const enqueue = (controller, events) => events.forEach((event) => controller.enqueue(event));
    return new TransformStream({
      transform: (piece, controller) => enqueue(controller, this.push(piece)),
      flush: (controller) =>
        enqueue(controller, this.finish(typeof finishReason === 'function' ? finishReason() : finishReason)),
    });
  }
}

/** What can be shown of JSON that is still being written. */
class Preview {
  #native = new native.Preview();

  constructor(text = '') {
    this.push(text);
  }

  push(piece) {
    this.#native.push(piece);
    return this;
  }

  get json() {
    return this.#native.json() ?? undefined;
  }

  get value() {
    const { json } = this;
    return json === undefined ? undefined : JSON.parse(json);
  }
}

/** Parses the events of the native module. */
function parseEvents(encoded) {
  return JSON.parse(encoded).map((event) => {
    const type = event.type.replace('_', '-');
    if (type === 'preview') return { ...event, partial: JSON.parse(event.partial) };
    if (event.call) return { ...event, type, call: new Call(event.call) };
    return type === 'call-start' ? { ...event, type, id: event.id ?? null } : { ...event, type };
  });
}

/** Splits a complete model output into content, reasoning and calls. */
function turn(text, tools, options) {
  return (tools instanceof Mender ? tools : new Mender(tools)).turn(text, options);
}

/** Starts to read a model output piece by piece. */
function createStream(tools, options) {
  return (tools instanceof Mender ? tools : new Mender(tools)).createStream(options);
}

module.exports = { Call, MendError, Mender, OutputStream, Preview, Turn, Verdict, createStream, fix, parse, schemaOf, turn };
