import type { Verdict } from './index.mjs';

/** The error for a text that cannot be mended with certainty. */
export declare class JSONRepairError extends Error {
  constructor(message: string, position: number, verdict?: Verdict);
  /** Where the text stops being JSON, in UTF-16 units. */
  position: number;
  /** Why the text is refused. */
  verdict?: Verdict;
}

/** Returns the text as JSON. Valid text comes back as it is. Throws a `JSONRepairError` where the original makes something up. */
export declare function jsonrepair(text: string): string;
