import type { Policy, Preset } from './index.cjs';

export interface MendedOptions {
  /** Describe the tools in the prompt, for a model that has no support for them. */
  describeTools?: boolean;
  policy?: Policy | Preset;
  /** The dialect in which the model writes calls into its text. */
  dialect?: string;
}

/** Wraps a model of the AI SDK and mends its calls, also those that it writes into its text. */
export declare function mended<M extends object>(model: M, options?: MendedOptions): M;
