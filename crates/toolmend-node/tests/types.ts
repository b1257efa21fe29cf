// Uses of the type declarations. This file is only compiled.

import { generateText, type LanguageModel } from 'ai';
import { MendError, Mender, createStream, fix, parse, turn, type StreamEvent, type Verdict } from 'toolmend';
import { prepareStep, repairToolCall } from 'toolmend/ai-sdk';
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
