import type { Transform } from 'node:stream';

export interface JsonRepairTransformOptions {
  /** The size of the pieces that are written; 65536 by default. */
  chunkSize?: number;
  /** Has no effect: the text is held until it is complete. */
  bufferSize?: number;
}

/** Returns a transform that mends the text that passes through, once it is complete. */
export declare function jsonrepairTransform(options?: JsonRepairTransformOptions): Transform;
