export * from './api.mjs';
export * from './jsonrepair.mjs';
export { default, repairs } from './light.mjs';
export type { RepairRow } from './light.mjs';

/** A row of the table of dialects. */
export interface DialectRow {
  name: string;
  /** The model families that write it. */
  families: string;
  markers: string[];
  reasoning: string;
  source: 'explicit' | 'inferred';
  on_by_default: boolean;
  /** Two calls as a model writes them. */
  example: string;
}

/** Returns every dialect. */
export declare function dialects(): DialectRow[];
