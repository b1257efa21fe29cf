'use strict';

const native = require('./native.cjs');
const { declared, schemaOf } = require('./schema.cjs');
const { Call, MendError, Turn, Verdict } = require('./verdict.cjs');

function rules(policy) {
  return JSON.stringify(typeof policy === 'string' ? { preset: policy } : (policy ?? {}));
}

const plain = new native.Fixer(undefined, '{}', undefined);
// Schemas are compiled once as long as they live.
const compiled = new WeakMap();

function fixer(schema, options) {
  if (schema === undefined && options === undefined) return plain;
  const make = () => {
    const text = schema === undefined ? undefined : JSON.stringify(schemaOf(schema));
    return new native.Fixer(text, rules(options?.policy), options?.finishReason);
  };
  if (options !== undefined || typeof schema !== 'object' || schema === null) return make();
  let known = compiled.get(schema);
  if (known === undefined) compiled.set(schema, (known = make()));
  return known;
}

/** The value of a JSON text, mended where that is needed. Takes the place of `JSON.parse`. */
function parse(text, schema, options) {
  // The second argument of `JSON.parse` is a function.
  const reviver = typeof schema === 'function' && !schema['~standard'] ? schema : undefined;
  const under = fixer(reviver ? undefined : schema, options);
  const input = typeof text === 'string' ? text : String(text);
  const mended = under.parse(input);
  if (mended === undefined) throw new MendError(fix(input, reviver ? undefined : schema, options));
  return JSON.parse(mended === null ? input : mended, reviver);
}

/** The verdict on one JSON text. */
function fix(text, schema, options) {
  return new Verdict(JSON.parse(fixer(schema, options).fix(text)));
}

/** Mends the calls of a set of tools. */
class Mender {
  #native;

  constructor(tools, options = {}) {
    const text = typeof tools === 'string' ? tools : JSON.stringify(declared(tools));
    const { policy, feedbackLimit, lenient = false } = options;
    this.#native = new native.Mender(text, rules(policy), feedbackLimit, lenient);
    this.notes = this.#native.notes();
    this.toolNames = this.#native.toolNames();
  }

  mend(tool, args, { finishReason } = {}) {
    const isText = typeof args === 'string';
    const text = isText ? args : (JSON.stringify(args) ?? 'null');
    return new Verdict(JSON.parse(this.#native.mend(tool, text, isText, finishReason)));
  }

  turn(text, { dialect, model, reasoningOpen = false, finishReason } = {}) {
    return new Turn(JSON.parse(this.#native.turn(text, dialect, model, reasoningOpen, finishReason)));
  }

  createStream({ dialect, model, reasoningOpen = false, live = false } = {}) {
    return new OutputStream(this.#native.stream(dialect, model, reasoningOpen, live));
  }
}

/** Reads an output piece by piece; pieces may be cut anywhere. */
class OutputStream {
  #native;

  constructor(stream) {
    this.#native = stream;
  }

  push(piece) {
    const bytes = typeof piece !== 'string';
    return events(this.#native.push(bytes ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength) : piece));
  }

  finish(finishReason) {
    return events(this.#native.finish(finishReason));
  }

  /** The same as a web `TransformStream`: pieces in, events out. */
  transform({ finishReason } = {}) {
    const enqueue = (controller, found) => found.forEach((event) => controller.enqueue(event));
    return new TransformStream({
      transform: (piece, controller) => enqueue(controller, this.push(piece)),
      flush: (controller) =>
        enqueue(controller, this.finish(typeof finishReason === 'function' ? finishReason() : finishReason)),
    });
  }
}

/** The events that the native half wrote, in the form that users get. */
function events(encoded) {
  return JSON.parse(encoded).map((event) => {
    const type = event.type.replace('_', '-');
    if (event.call) return { ...event, type, call: new Call(event.call) };
    return type === 'call-start' ? { ...event, type, id: event.id ?? null } : { ...event, type };
  });
}

/** The content, reasoning and calls of a whole model output. */
function turn(text, tools, options) {
  return (tools instanceof Mender ? tools : new Mender(tools)).turn(text, options);
}

/** Starts to read a model output piece by piece. */
function createStream(tools, options) {
  return (tools instanceof Mender ? tools : new Mender(tools)).createStream(options);
}

module.exports = { Call, MendError, Mender, OutputStream, Turn, Verdict, createStream, fix, parse, schemaOf, turn };
