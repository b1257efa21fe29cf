// Uses of the type declarations. This file is only compiled.

import { generateText, wrapLanguageModel, type LanguageModel } from 'ai';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import * as v from 'valibot';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { MendError, Mender, Preview, createStream, fix, parse, turn, type StreamEvent, type Verdict } from 'toolmend';
import { mendingMiddleware, prepareStep, repairToolCall, toolMiddleware } from 'toolmend/ai-sdk';
import { mended as mendedModel } from 'toolmend/mastra';
import { JSONRepairError, jsonrepair } from 'toolmend/jsonrepair';
import { jsonrepairTransform } from 'toolmend/jsonrepair/stream';
import { z } from 'zod';

const value: { a: number } = parse<{ a: number }>("{'a': 1}", z.object({ a: z.number() }));
const mender = new Mender([{ name: 'f', parameters: {} }], { policy: { preset: 'eager', tiers: { f: 'guided' } } });
const verdict: Verdict<{ a: number }> = mender.mend<{ a: number }>('f', '{}', { finishReason: 'stop' });
const a: number | undefined = verdict.arguments?.a;
const kinds: string[] = verdict.repairs.map((repair) => repair.kind);
const events: StreamEvent[] = createStream(mender, { live: true }).push('x');
const answered: number | undefined = mender.answer<{ n: number }>('{n: 1}', z.object({ n: z.number() })).value?.n;
const outcome: string | undefined = turn('x', mender).answer?.outcome;
const names: string[] = turn('x', mender).calls.map((call) => call.name);
const texts = events.map((event) => (event.type === 'call-end' ? event.call.raw : 'text' in event ? event.text : ''));
const transformed: ReadableStream<StreamEvent> = new ReadableStream<string>().pipeThrough(createStream().transform());
export const repaired = (model: LanguageModel) =>
  generateText({ model, prompt: '', experimental_repairToolCall: repairToolCall, prepareStep });
export const mended: string = jsonrepair('{a: 1}');
export const position = (error: unknown) => (error instanceof JSONRepairError ? error.position : 0);
export const piped = process.stdin.pipe(jsonrepairTransform({ bufferSize: 1024 }));
export { MendError, a, answered, fix, kinds, names, outcome, texts, transformed, value };
// @ts-expect-error a policy has one of four names
fix('1', undefined, { policy: 'bold' });

// Schemas of zod and Standard Schema give the types of their input.
const Read = z.object({ path: z.string(), limit: z.coerce.number().optional(), tags: z.array(z.string()).default([]) });
export const read: { path: string; tags?: string[] | undefined } = parse('{path: a}', Read);
export const readValue: string | undefined = fix('{path: a}', Read).value?.path;
export const standard: { a: string } = parse('{a: b}', toStandardJsonSchema(v.object({ a: v.string() })));
const tools = new Mender({ read: Read, search: { inputSchema: z.object({ query: z.string() }) } });
export const limit: string[] | undefined = tools.mend('read', '{}').arguments?.tags;
export const query: string | undefined = tools.mend('search', '{}').arguments?.query;
export const answer: string | undefined = tools.answer('{}', Read).value?.path;
// @ts-expect-error the schema has no such member
parse('{}', Read).other;
// @ts-expect-error the tool has no such argument
tools.mend('search', '{}').arguments?.path;
export const shown: unknown = new Preview('{"a": "b').value;
export const previews: unknown[] = createStream(mender, { previews: true }).push('x').map((event) => (event.type === 'preview' ? event.partial : null));
export const wrap = (model: LanguageModelV3) => [
  wrapLanguageModel({ model, middleware: [toolMiddleware(), mendingMiddleware({ policy: 'strict' })] }),
  mendedModel(model, { describeTools: true }).modelId,
];
