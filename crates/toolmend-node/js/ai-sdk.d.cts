import type { PrepareStepFunction, ToolCallRepairFunction, ToolSet } from 'ai';

/** Mends a call. For the option `repairToolCall`, whose name is `experimental_repairToolCall` before version 7. */
export declare const repairToolCall: ToolCallRepairFunction<ToolSet>;

/** Puts notes about values that `repairToolCall` filled in before the results of their tools. For the option `prepareStep`. */
export declare const prepareStep: PrepareStepFunction<ToolSet>;
