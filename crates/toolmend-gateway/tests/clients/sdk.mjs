// Runs every case through the Node clients of OpenAI, Anthropic and Vercel.
//
//     sdk.mjs GATEWAY_URL UPSTREAM_URL [SURFACE]
//
// Prints one JSON line for each client and case: whether the calls are exactly those that are meant.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import path from "node:path";

// The packages stand in the folder that the command runs in.
const find = createRequire(path.join(process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(find.resolve(name)).href);

globalThis.AI_SDK_LOG_WARNINGS = false;
const { default: OpenAI } = await load("openai");
const { default: Anthropic } = await load("@anthropic-ai/sdk");
const { generateText, streamText, tool, jsonSchema } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { createAnthropic } = await load("@ai-sdk/anthropic");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");

const [gateway, upstream, server] = process.argv.slice(2);
const schema = {
  type: "object",
  properties: { title: { type: "string" }, text: { type: "string" }, lines: { type: "integer" } },
  required: ["title", "text", "lines"],
  additionalProperties: false,
};
const fn = { name: "save_note", description: "Saves a note.", parameters: schema, strict: true };
const chat = { messages: [{ role: "user", content: "hi" }], tools: [{ type: "function", function: fn }] };
const responses = { input: "hi", tools: [{ type: "function", ...fn }] };
const messages = { messages: [{ role: "user", content: "hi" }], max_tokens: 100, tools: [{ name: "save_note", description: "Saves a note.", input_schema: schema }] };

// The cases of some models add something to every request.
const fetchWithMore = (url, init) => {
  const body = typeof init?.body === "string" ? JSON.parse(init.body) : {};
  if (!body.model?.startsWith("single/")) return fetch(url, init);
  if (String(url).includes("/messages")) body.tool_choice = { type: "auto", disable_parallel_tool_use: true };
  else body.parallel_tool_calls = false;
  const headers = new Headers(init.headers);
  headers.delete("content-length");
  return fetch(url, { ...init, headers, body: JSON.stringify(body) });
};
// What the server signed must reach the client, unless it is of another vendor.
const mustBeSigned = (model, signatures) => must(server || !model.includes("signed") || signatures.includes("sig"), `no signature: ${JSON.stringify(signatures)}`);

const openai = new OpenAI({ fetch: fetchWithMore, baseURL: `${gateway}/v1`, apiKey: "x", maxRetries: 0 });
const claude = new Anthropic({ fetch: fetchWithMore, baseURL: gateway, apiKey: "x", maxRetries: 0 });
const parsed = (calls) => calls.map(([name, text]) => ({ name, arguments: typeof text === "string" ? JSON.parse(text) : text }));
const must = (holds, what) => {
  if (!holds) throw new Error(what);
};

function ofChat(completion, model) {
  const [choice] = completion.choices;
  mustBeSigned(model, (choice.message.tool_calls ?? []).map((call) => call.extra_content?.google?.thought_signature));
  must(choice.finish_reason === "tool_calls", `ends with ${choice.finish_reason}`);
  return parsed((choice.message.tool_calls ?? []).map((call) => [call.function.name, call.function.arguments]));
}

function ofResponse(response, model) {
  mustBeSigned(model, response.output.map((item) => item.encrypted_content));
  must(response.status === "completed", `ends with ${response.status}`);
  const items = response.output.filter((item) => item.type === "function_call");
  must(items.every((item) => item.call_id), "call ids");
  return parsed(items.map((item) => [item.name, item.arguments]));
}

function ofMessage(message, model) {
  mustBeSigned(model, message.content.map((block) => block.signature));
  must(message.stop_reason === "tool_use", `ends with ${message.stop_reason}`);
  return parsed(message.content.filter((block) => block.type === "tool_use").map((block) => [block.name, block.input]));
}

async function chatRaw(model) {
  const calls = [];
  let reason;
  for await (const chunk of await openai.chat.completions.create({ model, stream: true, ...chat })) {
    for (const choice of chunk.choices) {
      reason = choice.finish_reason ?? reason;
      for (const call of choice.delta.tool_calls ?? []) {
        calls[call.index] ??= ["", ""];
        if (call.function.name) calls[call.index][0] = call.function.name;
        calls[call.index][1] += call.function.arguments ?? "";
      }
    }
  }
  must(reason === "tool_calls", `ends with ${reason}`);
  return parsed(calls);
}

async function responsesRaw(model) {
  const items = [];
  let last;
  for await (const event of await openai.responses.create({ model, stream: true, ...responses })) {
    if (event.type === "response.output_item.done" && event.item.type === "function_call") items.push([event.item.name, event.item.arguments]);
    last = event.type;
  }
  must(last === "response.completed", `ends with ${last}`);
  return parsed(items);
}

async function messagesRaw(model) {
  const calls = [];
  let reason, last;
  for await (const event of await claude.messages.create({ model, stream: true, ...messages })) {
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") calls.push([event.content_block.name, ""]);
    if (event.type === "content_block_delta" && event.delta.type === "input_json_delta") calls.at(-1)[1] += event.delta.partial_json;
    if (event.type === "message_delta") reason = event.delta.stop_reason;
    last = event.type;
  }
  must(reason === "tool_use" && last === "message_stop", `ends with ${reason}, ${last}`);
  return parsed(calls);
}

// The tools that the AI SDK runs, and how its turn ended.
async function vercel(model, stream) {
  const ran = [];
  const tools = { save_note: tool({ description: "Saves a note.", inputSchema: jsonSchema(schema), execute: (input) => (ran.push(["save_note", input]), "ok") }) };
  const options = { model, prompt: "hi", tools, maxRetries: 0 };
  if (stream) {
    const errors = [];
    const result = streamText({ ...options, onError: ({ error }) => errors.push(error) });
    for await (const part of result.fullStream) if (part.type === "error") errors.push(part.error);
    must(errors.length === 0, `error: ${errors[0]?.message ?? errors[0]}`);
    const reason = await result.finishReason;
    must(reason === "tool-calls", `ends with ${reason}`);
  } else {
    const { finishReason } = await generateText(options);
    must(finishReason === "tool-calls", `ends with ${finishReason}`);
  }
  return parsed(ran);
}

const compatible = createOpenAICompatible({ fetch: fetchWithMore, name: "gateway", baseURL: `${gateway}/v1`, apiKey: "x" });
const vercelOpenai = createOpenAI({ fetch: fetchWithMore, baseURL: `${gateway}/v1`, apiKey: "x" });
const vercelClaude = createAnthropic({ fetch: fetchWithMore, baseURL: `${gateway}/v1`, apiKey: "x" });

const clients = {
  "chat false": {
    "openai-node": async (model) => ofChat(await openai.chat.completions.create({ model, ...chat }), model),
    "ai openai-compatible": (model) => vercel(compatible(model), false),
    "ai openai.chat": (model) => vercel(vercelOpenai.chat(model), false),
  },
  "chat true": {
    "openai-node raw": chatRaw,
    "openai-node helper": async (model) => ofChat(await openai.chat.completions.stream({ model, ...chat }).finalChatCompletion(), model),
    "ai openai-compatible": (model) => vercel(compatible(model), true),
    "ai openai.chat": (model) => vercel(vercelOpenai.chat(model), true),
  },
  "responses false": {
    "openai-node": async (model) => ofResponse(await openai.responses.create({ model, ...responses }), model),
    "ai openai.responses": (model) => vercel(vercelOpenai.responses(model), false),
  },
  "responses true": {
    "openai-node raw": responsesRaw,
    "openai-node helper": async (model) => ofResponse(await openai.responses.stream({ model, ...responses }).finalResponse(), model),
    "ai openai.responses": (model) => vercel(vercelOpenai.responses(model), true),
  },
  "messages false": {
    "anthropic-node": async (model) => ofMessage(await claude.messages.create({ model, ...messages }), model),
    "ai anthropic": (model) => vercel(vercelClaude(model), false),
  },
  "messages true": {
    "anthropic-node raw": messagesRaw,
    "anthropic-node helper": async (model) => ofMessage(await claude.messages.stream({ model, ...messages }).finalMessage(), model),
    "ai anthropic": (model) => vercel(vercelClaude(model), true),
  },
};

process.on("unhandledRejection", () => {});
for (const one of await (await fetch(`${upstream}/cases`)).json()) {
  // With a surface, its cases are run through the clients of the others: the gateway translates.
  if (server && server !== one.surface) continue;
  for (const [kind, list] of Object.entries(clients)) {
    const [surface, stream] = kind.split(" ");
    if (stream !== String(one.stream) || (surface === one.surface) === Boolean(server)) continue;
    const name = server ? `${surface} over ${server}` : surface;
    for (const [client, run] of Object.entries(list)) {
      let got, why;
      try {
        got = await run(one.case);
        // A stub carries what could not be read, and its tool rejects it: nothing runs.
        if (got.some((call) => '__unparsedToolInput' in (call.arguments ?? {}))) got = undefined;
        if (!isDeepStrictEqual(got, one.calls)) why = `got ${JSON.stringify(got)}`;
      } catch (error) {
        why = `${error?.name}: ${error?.message}`;
      }
      // A turn that is broken must not look like one that is whole.
      const ok = one.calls.length === 0 ? got === undefined : why === undefined;
      console.log(JSON.stringify({ client, surface: name, stream: one.stream, case: one.case, ok, why: ok ? null : (why ?? "").slice(0, 600) }));
    }
  }
}
process.exit(0);
