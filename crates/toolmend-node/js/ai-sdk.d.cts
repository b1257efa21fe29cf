import type { LanguageModelMiddleware, PrepareStepFunction, ToolCallRepairFunction, ToolSet } from 'ai';
import type { Policy, Preset } from './index.cjs';

/** Mends a call. For the option `repairToolCall`, whose name is `experimental_repairToolCall` before version 7. */
export declare const repairToolCall: ToolCallRepairFunction<ToolSet>;

/** Puts notes about values that were filled in before the results of their tools. For the option `prepareStep`. */
export declare const prepareStep: PrepareStepFunction<ToolSet>;

export interface MiddlewareOptions {
  policy?: Policy | Preset;
  /** The dialect in which the model writes calls into its text. */
  dialect?: string;
}

/** Mends the calls of a model, also those that it writes into its text. For `wrapLanguageModel`. */
export declare function mendingMiddleware(options?: MiddlewareOptions): LanguageModelMiddleware;

/**
 * Gives tools to a model that has no support for them: describes them in the prompt, and reads the calls in the text. For
 * `wrapLanguageModel`.
 */
export declare function toolMiddleware(options?: MiddlewareOptions): LanguageModelMiddleware;
