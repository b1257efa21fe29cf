import type { ToolCallRepairFunction, ToolSet } from 'ai';

/** Mends a call. For the option `repairToolCall`, whose name is `experimental_repairToolCall` before version 7. */
export declare const repairToolCall: ToolCallRepairFunction<ToolSet>;
