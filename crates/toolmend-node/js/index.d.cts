/** A JSON Schema, or a schema of zod or any other library that can be written as one. */
export type Schema = object | boolean;

export type Outcome = 'clean' | 'mended' | 'truncated' | 'rejected';
export type Reason = 'ambiguous' | 'syntax' | 'schema' | 'unknown_tool' | 'limit' | 'policy';
export type Tier = 'lossless' | 'guided' | 'assumed';
export type Preset = 'off' | 'strict' | 'balanced' | 'eager';

/** What may be repaired. */
export interface Policy {
  preset?: Preset;
  /** The highest tier that is applied. */
  maxTier?: Tier;
  /** The highest tier for single tools. */
  tiers?: Record<string, Tier>;
  /** Repairs that are turned on, by their names. */
  on?: string[];
  /** Repairs that are turned off, by their names. */
  off?: string[];
  maxBytes?: number;
  maxDepth?: number;
}

/** One change that was made. */
export interface Repair {
  kind: string;
  layer: 'syntax' | 'shape' | 'name' | 'dialect';
  tier: Tier;
  summary: string;
  /** JSON pointer of the value in the mended JSON. */
  path: string;
  /** Half-open range of bytes in the UTF-8 text of the input; `null` where the arguments came as a value. */
  at: [number, number] | null;
}

/** One place where a value does not fit its schema. */
export interface Violation {
  path: string;
  keyword: string;
  schemaPath: string;
  message: string;
}

/** What became of a text or a call. */
export declare class Verdict<T = unknown> {
  private constructor();
  readonly outcome: Outcome;
  /** Whether there is something to run with. */
  readonly runs: boolean;
  /** The declared tool that the call means. */
  readonly tool: string | null;
  /** The JSON to run with; where nothing was mended it is the input. */
  readonly json: string | null;
  /** The same as `json`: never the input of a refused call. */
  readonly text: string | null;
  /** The value to run with; `undefined` where nothing runs. */
  readonly arguments: T | undefined;
  /** The same. */
  readonly value: T | undefined;
  readonly repairs: readonly Repair[];
  /** The values of a text that held several different ones. */
  readonly values: readonly unknown[];
  /** Lines for the tool result. */
  readonly notes: readonly string[];
  /** Words for the model: what was wrong and what to do next. */
  readonly feedback: string | null;
  readonly reason: Reason | null;
  readonly message: string | null;
  /** The readings that tied. */
  readonly readings: readonly unknown[];
  /** JSON pointer of the place where the text was cut off. */
  readonly cut: string | null;
  /** The members that were complete. For display, never as arguments. */
  readonly partial: unknown;
  readonly violations: readonly Violation[];
  /** The fields of the batch protocol. */
  toJSON(): Record<string, unknown>;
}

/** One call that was found in a model's output. */
export declare class Call {
  private constructor();
  readonly name: string;
  readonly id: string | null;
  readonly source: 'explicit' | 'inferred';
  readonly dialect: string;
  readonly at: [number, number];
  readonly raw: string;
  readonly verdict: Verdict;
  readonly outcome: Outcome;
  readonly runs: boolean;
  readonly json: string | null;
  readonly arguments: unknown;
  toJSON(): Record<string, unknown>;
}

/** A whole model output, taken apart. */
export declare class Turn {
  private constructor();
  readonly outcome: Outcome;
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
  readonly notes: readonly string[];
  toJSON(): Record<string, unknown>;
}

/** What a stream tells while it reads. */
export type StreamEvent =
  | { type: 'content' | 'reasoning' | 'note'; text: string }
  | { type: 'call-start'; index: number; name: string; id: string | null }
  | { type: 'arguments-delta'; index: number; text: string }
  | { type: 'call-end' | 'call-cut' | 'call-rejected'; index: number; call: Call };

export interface FixOptions {
  policy?: Policy | Preset;
  /** How the model's output ended; `length` and `max_tokens` mean that it was cut off. */
  finishReason?: string;
}

export interface MenderOptions {
  policy?: Policy | Preset;
  /** The most characters of a feedback. */
  feedbackLimit?: number;
  /** A broken schema becomes a line in `notes`, and its tool is unconstrained. */
  lenient?: boolean;
}

export interface StreamOptions {
  /** The dialect to try first. */
  dialect?: string;
  /** The id of the model. */
  model?: string;
  /** The prompt had already opened the reasoning. */
  reasoningOpen?: boolean;
  /** Tell strings while they are written, as far as they are certain. */
  live?: boolean;
}

export interface TurnOptions extends Omit<StreamOptions, 'live'> {
  finishReason?: string;
}

/** Mends the calls of a set of tools. Tools have any shape that APIs and frameworks have. */
export declare class Mender {
  constructor(tools?: unknown, options?: MenderOptions);
  readonly notes: readonly string[];
  readonly toolNames: readonly string[];
  /** The verdict on one call. Arguments are the text that the model wrote, or a value that was parsed already. */
  mend<T = unknown>(tool: string, args: unknown, options?: { finishReason?: string }): Verdict<T>;
  turn(text: string, options?: TurnOptions): Turn;
  createStream(options?: StreamOptions): OutputStream;
}

/** Reads an output piece by piece; pieces may be cut anywhere. */
export declare class OutputStream {
  private constructor();
  push(piece: string | Uint8Array): StreamEvent[];
  finish(finishReason?: string): StreamEvent[];
  /** The same as a web `TransformStream`: pieces in, events out. */
  transform(options?: {
    finishReason?: string | (() => string | undefined);
  }): TransformStream<string | Uint8Array, StreamEvent>;
}

/** A text that is no JSON and was not mended. It is a `SyntaxError`, as that of `JSON.parse`. */
export declare class MendError extends SyntaxError {
  constructor(verdict: Verdict);
  readonly verdict: Verdict;
}

/** The value of a JSON text, mended where that is needed. Takes the place of `JSON.parse`. */
export declare function parse<T = any>(
  text: string,
  schema?: Schema | ((this: any, key: string, value: any) => any),
  options?: FixOptions,
): T;

/** The verdict on one JSON text. */
export declare function fix<T = unknown>(text: string, schema?: Schema, options?: FixOptions): Verdict<T>;

/** The content, reasoning and calls of a whole model output. */
export declare function turn(text: string, tools?: unknown, options?: TurnOptions): Turn;

/** Starts to read a model output piece by piece. */
export declare function createStream(tools?: unknown, options?: StreamOptions): OutputStream;

/** The JSON Schema of a schema of zod or another library. */
export declare function schemaOf(source: Schema): object | boolean;
