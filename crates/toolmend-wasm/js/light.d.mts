import type { FixOptions, Tier, Verdict } from './api.mjs';

export { MendError, Verdict } from './api.mjs';
export type { FixOptions, Outcome, Policy, Preset, Reason, Repair, Tier, Violation } from './api.mjs';
export * from './jsonrepair.mjs';

/** What `WebAssembly` can compile or has compiled, or where it can be fetched. */
export type ModuleSource = string | URL | Request | Response | BufferSource | WebAssembly.Module;

/**
 * Loads the module; nothing works before. The default is the file `toolmend.wasm` beside the script. In Node, Deno, Bun and
 * Workers the module is loaded by the import, and this does nothing.
 */
export default function init(source?: ModuleSource | Promise<ModuleSource>): Promise<void>;

/** Returns the value of a JSON text and mends the text if necessary. Replaces `JSON.parse`. */
export declare function parse<T = any>(
  text: string,
  reviver?: (this: any, key: string, value: any) => any,
  options?: FixOptions,
): T;

/** Returns the verdict on a JSON text. The light build reads no schemas. */
export declare function fix<T = unknown>(text: string, schema?: undefined, options?: FixOptions): Verdict<T>;

/** A row of the table of repairs. */
export interface RepairRow {
  kind: string;
  layer: 'syntax' | 'shape' | 'name' | 'dialect';
  tier: Tier;
  /** What other repairers call it. */
  aliases?: string[];
  off_by_default: boolean;
  summary: string;
  example: { before: string; after: string };
}

/** Returns every repair. */
export declare function repairs(): RepairRow[];
