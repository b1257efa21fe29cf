'use strict';
// The streaming interface of the package `jsonrepair`.

const { Transform } = require('node:stream');
const { StringDecoder } = require('node:string_decoder');
const { jsonrepair } = require('../jsonrepair.cjs');

/**
 * Returns a transform that mends the text that passes through. A repair may depend on everything that follows, so the text is
 * held until it is complete. `chunkSize` is the size of the pieces that are written.
 */
function jsonrepairTransform({ chunkSize = 65536 } = {}) {
  const decoder = new StringDecoder('utf8');
  let text = '';
  return new Transform({
    transform(chunk, _encoding, callback) {
      text += decoder.write(chunk);
      callback();
    },
    flush(callback) {
      try {
        const mended = jsonrepair(text + decoder.end());
        for (let at = 0; at < mended.length; at += chunkSize) this.push(mended.slice(at, at + chunkSize));
        callback();
      } catch (error) {
        callback(error);
      }
    },
  });
}

module.exports = { jsonrepairTransform };
