import type { ToolCallRepairFunction, ToolSet } from 'ai';

/** For the option `repairToolCall`, which versions before 7 call `experimental_repairToolCall`. */
export declare const repairToolCall: ToolCallRepairFunction<ToolSet>;
