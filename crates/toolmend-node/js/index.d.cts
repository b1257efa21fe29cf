/** A JSON Schema, or a schema of zod or another library that can be converted to one. */
export type Schema = object | boolean;

/** A schema that knows the type of its values: of zod, or of another library that implements Standard Schema. */
export interface TypedSchema {
  readonly '~standard': { readonly types?: { readonly input: unknown } | undefined };
}

/** The type of the values that a schema describes, before it transforms them. A schema without a type gives `unknown`. */
export type InferInput<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer I }
    ? I
    : unknown
  : unknown;

/** The type of the arguments of a tool: of its schema, or of the schema in one of its properties. */
export type InferArguments<T> = T extends TypedSchema
  ? InferInput<T>
  : T extends { readonly inputSchema: infer S extends TypedSchema } | { readonly parameters: infer S extends TypedSchema }
    ? InferInput<S>
    : unknown;

export type Outcome = 'clean' | 'mended' | 'truncated' | 'rejected';
export type Reason = 'ambiguous' | 'syntax' | 'schema' | 'unknown_tool' | 'limit' | 'policy';
export type Tier = 'lossless' | 'guided' | 'assumed';
export type Preset = 'off' | 'strict' | 'balanced' | 'eager';

/** What may be repaired. */
export interface Policy {
  preset?: Preset;
  /** The highest tier that may be applied. */
  maxTier?: Tier;
  /** The highest tier for single tools. */
  tiers?: Record<string, Tier>;
  /** The kinds of repair to turn on. */
  on?: string[];
  /** The kinds of repair to turn off. */
  off?: string[];
  maxBytes?: number;
  maxDepth?: number;
}

/** One change to the text. */
export interface Repair {
  kind: string;
  layer: 'syntax' | 'shape' | 'name' | 'dialect';
  tier: Tier;
  summary: string;
  /** JSON pointer of the value in the mended JSON. */
  path: string;
  /** Half-open byte range in the UTF-8 text of the input; `null` if the arguments were passed as a value. */
  at: [number, number] | null;
}

/** One way in which a value does not match its schema. */
export interface Violation {
  path: string;
  keyword: string;
  schemaPath: string;
  message: string;
}

/** The outcome of mending a text or a call. */
export declare class Verdict<T = unknown> {
  private constructor();
  readonly outcome: Outcome;
  /** Whether the call can run. */
  readonly runs: boolean;
  /** The declared tool that the call means. */
  readonly tool: string | null;
  /** The JSON to run with, which is the input if nothing was mended; `null` if the call is refused. */
  readonly json: string | null;
  /** The same as `json`: never the input of a refused call. */
  readonly text: string | null;
  /** The value to run with; `undefined` if the call is refused. */
  readonly arguments: T | undefined;
  /** The same as `arguments`. */
  readonly value: T | undefined;
  readonly repairs: readonly Repair[];
  /** The values of a text that contains several different ones. */
  readonly values: readonly unknown[];
  /** Lines for the tool result. */
  readonly notes: readonly string[];
  /** Feedback for the model: what was wrong and what to do next. */
  readonly feedback: string | null;
  readonly reason: Reason | null;
  readonly message: string | null;
  /** The possible readings of an ambiguous text. */
  readonly readings: readonly unknown[];
  /** JSON pointer of the value in which the text was truncated. */
  readonly cut: string | null;
  /** The complete members of a truncated text. For display only, never as arguments. */
  readonly partial: unknown;
  readonly violations: readonly Violation[];
  /** The fields of the batch protocol. */
  toJSON(): Record<string, unknown>;
}

/** A call in a model's output. */
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

/** A model output, split into content, reasoning and calls. */
export declare class Turn {
  private constructor();
  readonly outcome: Outcome;
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
  readonly notes: readonly string[];
  /** What was removed from the text around the calls. */
  readonly repairs: readonly Repair[];
  /** The verdict on the content, if the request asked for an answer in JSON and there are no calls; otherwise `null`. */
  readonly answer: Verdict | null;
  toJSON(): Record<string, unknown>;
}

/** An event of a stream. */
export type StreamEvent =
  | { type: 'content' | 'reasoning' | 'note'; text: string }
  | { type: 'removed'; repair: Repair }
  | { type: 'call-start'; index: number; name: string; id: string | null }
  | { type: 'arguments-delta'; index: number; text: string }
  | Preview.Event
  | { type: 'call-end' | 'call-cut' | 'call-rejected'; index: number; call: Call };

export interface FixOptions {
  policy?: Policy | Preset;
  /** How the model's output ended; `length` and `max_tokens` mean that it was truncated. */
  finishReason?: string;
}

export interface MenderOptions {
  policy?: Policy | Preset;
  /** The maximum length of feedback, in characters. */
  feedbackLimit?: number;
  /** An invalid schema adds a line to `notes` and leaves its tool unconstrained. */
  lenient?: boolean;
}

export interface StreamOptions {
  /** The dialect to try first. */
  dialect?: string;
  /** The id of the model. */
  model?: string;
  /** The prompt has already opened the reasoning. */
  reasoningOpen?: boolean;
  /** The request: `tool_choice`, `response_format` and `parallel_tool_calls` as Chat Completions writes them, and `calls`. */
  request?: object;
  /** Send events for strings while the model writes them. */
  live?: boolean;
  /** Send events with the arguments so far of a call that is being written, at every depth, for user interfaces. */
  previews?: boolean;
}

export interface TurnOptions extends Omit<StreamOptions, 'live' | 'previews'> {
  finishReason?: string;
}

/** Mends calls of a set of tools, which may have the format of any supported API or framework. */
export declare class Mender<Tools = unknown> {
  constructor(tools?: Tools, options?: MenderOptions);
  readonly notes: readonly string[];
  readonly toolNames: readonly string[];
  /** Returns the verdict on one call. `args` is the text that the model wrote, or a parsed value. */
  mend<Name extends keyof Tools & string>(
    tool: Name,
    args: unknown,
    options?: { finishReason?: string },
  ): Verdict<InferArguments<Tools[Name]>>;
  mend<T = unknown>(tool: string, args: unknown, options?: { finishReason?: string }): Verdict<T>;
  /**
   * Returns the verdict on an answer in JSON. `format` is the `response_format` of the request, or a schema of zod or another
   * library. If the text has exactly one strict value, and it fits, the verdict is clean and about that value; otherwise
   * the text is mended.
   */
  answer<S extends TypedSchema>(text: string, format: S, options?: { finishReason?: string }): Verdict<InferInput<S>>;
  answer<T = unknown>(text: string, format: object, options?: { finishReason?: string }): Verdict<T>;
  turn(text: string, options?: TurnOptions): Turn;
  createStream(options?: StreamOptions): OutputStream;
}

/** Reads an output piece by piece. A piece may end anywhere. */
export declare class OutputStream {
  private constructor();
  push(piece: string | Uint8Array): StreamEvent[];
  finish(finishReason?: string): StreamEvent[];
  /** Returns a web `TransformStream` from pieces to events. */
  transform(options?: {
    finishReason?: string | (() => string | undefined);
  }): TransformStream<string | Uint8Array, StreamEvent>;
}

/** The text is not JSON and cannot be mended. This is a `SyntaxError`, like the error of `JSON.parse`. */
export declare class MendError extends SyntaxError {
  constructor(verdict: Verdict);
  readonly verdict: Verdict;
}

/** Returns the value of a JSON text and mends the text if necessary. Replaces `JSON.parse`. */
export declare function parse<S extends TypedSchema>(text: string, schema: S, options?: FixOptions): InferInput<S>;
export declare function parse<T = any>(
  text: string,
  schema?: Schema | ((this: any, key: string, value: any) => any),
  options?: FixOptions,
): T;

/** Returns the verdict on a JSON text. */
export declare function fix<S extends TypedSchema>(text: string, schema: S, options?: FixOptions): Verdict<InferInput<S>>;
export declare function fix<T = unknown>(text: string, schema?: Schema, options?: FixOptions): Verdict<T>;

/** Splits a complete model output into content, reasoning and calls. */
export declare function turn(text: string, tools?: unknown, options?: TurnOptions): Turn;

/** Starts to read a model output piece by piece. */
export declare function createStream(tools?: unknown, options?: StreamOptions): OutputStream;

/** What can be shown of JSON that is still being written. It only grows, and must never be used as arguments. */
export declare class Preview {
  constructor(text?: string);
  /** Reads the next piece, which may end anywhere. */
  push(piece: string): this;
  /** The value so far as strict JSON; `undefined` before its first bracket. */
  readonly json: string | undefined;
  /** The value so far. */
  readonly value: unknown;
}

export declare namespace Preview {
  /** The arguments so far of a call that is being written. For display only. */
  interface Event {
    type: 'preview';
    index: number;
    name: string;
    partial: unknown;
    incomplete: true;
  }
}

/** Returns the JSON Schema of a schema of zod or another library. */
export declare function schemaOf(source: Schema): object | boolean;
