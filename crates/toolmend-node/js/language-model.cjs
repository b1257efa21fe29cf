'use strict';

// Language models as the AI SDK defines them: reads and mends the calls in what a model answers, as a whole or as a stream. Frameworks that
// use such models, like Mastra, share this.

const { Mender } = require('./index.cjs');
const { addNotes, describeTools, rememberNotes, toPlainMessage } = require('./prompt.cjs');

// The tools of a request whose parameters no longer have them. Other middleware may copy the parameters, but not the prompt.
const toolsOfPrompts = new WeakMap();
let createdIds = 0;

/** Returns middleware. With `describesTools`, the model gets a description of its tools in place of the tools. */
function createMiddleware({ describesTools, policy, dialect } = {}) {
  return {
    specificationVersion: 'v3',
    middlewareVersion: 'v2',
    transformParams: async ({ params }) => transformParams(params, describesTools),
    wrapGenerate: async ({ doGenerate, params }) => mendResult(await doGenerate(), new Reader(params, policy, dialect)),
    wrapStream: async ({ doStream, params }) => {
      const result = await doStream();
      return { ...result, stream: result.stream.pipeThrough(mendStream(new Reader(params, policy, dialect))) };
    },
  };
}

/** Wraps a model of the AI SDK. Everything but its answers stays as it is. */
function wrapModel(model, options) {
  const middleware = createMiddleware(options);
  const ask = async (kind, wrapper, params) => {
    const changed = await middleware.transformParams({ params });
    return middleware[wrapper]({ [kind]: () => model[kind](changed), params: changed });
  };
  const own = {
    doGenerate: (params) => ask('doGenerate', 'wrapGenerate', params),
    doStream: (params) => ask('doStream', 'wrapStream', params),
  };
  return new Proxy(model, {
    get(target, name) {
      const value = own[name] ?? Reflect.get(target, name, target);
      return typeof value === 'function' && !(name in own) ? value.bind(target) : value;
    },
  });
}

function transformParams(params, describesTools) {
  const prompt = params.prompt.map(addNotes);
  if (!describesTools) return { ...params, prompt };
  const { tools, toolChoice, ...rest } = params;
  const declared = toolChoice?.type === 'none' ? [] : functionsOf(tools);
  const messages = prompt.map(toPlainMessage);
  if (declared.length > 0) {
    const text = describeTools(declared, toolChoice);
    const at = messages.findIndex(({ role }) => role === 'system');
    if (at < 0) messages.unshift({ role: 'system', content: text });
    else messages[at] = { ...messages[at], content: `${messages[at].content}\n\n${text}` };
  }
  toolsOfPrompts.set(messages, { tools: declared, toolChoice });
  return { ...rest, prompt: messages };
}

/** Provider tools are run by the provider. */
function functionsOf(tools) {
  return (tools ?? []).filter(({ type }) => type === 'function');
}

/** Reads what a model answers to one request. */
class Reader {
  constructor(params, policy, dialect) {
    const known = toolsOfPrompts.get(params.prompt);
    const tools = known?.tools ?? functionsOf(params.tools);
    const choice = known?.toolChoice?.type ?? params.toolChoice?.type;
    this.mender = new Mender(
      tools.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })),
      { policy, lenient: true },
    );
    this.hasTools = tools.length > 0;
    // A model that was told how to write its calls writes them so wherever they are.
    this.options = {
      dialect: dialect ?? (known ? 'hermes_json' : undefined),
      request: choice === 'none' || !this.hasTools ? { tool_choice: 'none' } : {},
    };
  }

  /** Mends a call of the model's own interface. */
  mendPart(part) {
    if (part.providerExecuted || !this.hasTools) return part;
    const verdict = this.mender.mend(part.toolName, part.input);
    if (verdict.outcome !== 'mended') return part;
    rememberNotes(part.toolCallId, verdict.notes);
    return { ...part, toolName: verdict.tool, input: verdict.json };
  }

  /** Converts a call in a text. One that must not run keeps its text as input, so that the framework reports it. */
  toPart(call) {
    const toolCallId = call.id ?? `call_${Date.now().toString(36)}_${(createdIds += 1)}`;
    rememberNotes(toolCallId, call.verdict.notes);
    return { type: 'tool-call', toolCallId, toolName: call.name, input: call.runs ? call.json : call.raw };
  }
}

function mendResult(result, reader) {
  const content = result.content.flatMap((part) => {
    if (part.type === 'tool-call') return [reader.mendPart(part)];
    if (part.type !== 'text' || !reader.hasTools) return [part];
    const turn = reader.mender.turn(part.text, { ...reader.options, finishReason: reasonOf(result.finishReason) });
    const parts = turn.calls.map((call) => reader.toPart(call));
    if (parts.length === 0) return [part];
    const text = turn.content === '' ? [] : [{ ...part, text: turn.content }];
    const reasoning = turn.reasoning === '' ? [] : [{ type: 'reasoning', text: turn.reasoning }];
    return [...reasoning, ...text, ...parts];
  });
  const found = content.some(({ type }) => type === 'tool-call') && !result.content.some(({ type }) => type === 'tool-call');
  return { ...result, content, finishReason: found ? withCalls(result.finishReason) : result.finishReason };
}

/** Version 2 of the interface has a word, version 3 an object. */
function reasonOf(finishReason) {
  return typeof finishReason === 'string' ? finishReason : finishReason?.unified;
}

function withCalls(finishReason) {
  if (reasonOf(finishReason) === 'length') return finishReason;
  return typeof finishReason === 'string' ? 'tool-calls' : { ...finishReason, unified: 'tool-calls' };
}

/** Returns a transform of the parts of a stream. Calls are held until they are complete, because a part that was sent stays. */
function mendStream(reader) {
  const stream = reader.hasTools ? reader.mender.createStream(reader.options) : undefined;
  const held = new Map();
  const open = { kind: undefined, id: undefined, count: 0 };
  let found = false;

  const close = (controller) => {
    if (open.kind) controller.enqueue({ type: `${open.kind}-end`, id: open.id });
    open.kind = undefined;
  };
  const write = (controller, kind, delta) => {
    if (open.kind !== kind) {
      close(controller);
      Object.assign(open, { kind, id: `toolmend-${(open.count += 1)}` });
      controller.enqueue({ type: `${kind}-start`, id: open.id });
    }
    controller.enqueue({ type: `${kind}-delta`, id: open.id, delta });
  };
  const writeCall = (controller, part, start) => {
    const { toolCallId: id, toolName, input } = part;
    controller.enqueue({ ...start, type: 'tool-input-start', id, toolName });
    controller.enqueue({ type: 'tool-input-delta', id, delta: input });
    controller.enqueue({ type: 'tool-input-end', id });
    controller.enqueue(part);
  };
  const read = (controller, events) => {
    for (const event of events) {
      if (event.type === 'content') write(controller, 'text', event.text);
      else if (event.type === 'reasoning') write(controller, 'reasoning', event.text);
      else if (event.call) {
        close(controller);
        found = true;
        writeCall(controller, reader.toPart(event.call));
      }
    }
  };

  // The stream of events ends once; doing it again does nothing.
  const end = (controller, reason) => {
    if (stream !== undefined) read(controller, stream.finish(reason));
    close(controller);
  };

  return new TransformStream({
    transform(part, controller) {
      switch (part.type) {
        case 'text-start':
        case 'text-end':
          if (stream === undefined) controller.enqueue(part);
          return;
        case 'text-delta':
          if (stream === undefined) controller.enqueue(part);
          else read(controller, stream.push(part.delta));
          return;
        case 'tool-input-start':
          held.set(part.id, part);
          return;
        case 'tool-input-delta':
        case 'tool-input-end':
          return;
        case 'tool-call':
          close(controller);
          writeCall(controller, reader.mendPart(part), held.get(part.toolCallId));
          return;
        case 'finish':
          end(controller, reasonOf(part.finishReason));
          controller.enqueue(found ? { ...part, finishReason: withCalls(part.finishReason) } : part);
          return;
        default:
          controller.enqueue(part);
      }
    },
    // A stream that broke off has no finish. Its text is not lost, and its last call is incomplete.
    flush: (controller) => end(controller, 'length'),
  });
}

module.exports = { createMiddleware, wrapModel };
