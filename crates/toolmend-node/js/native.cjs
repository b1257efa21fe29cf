'use strict';

// `npm install` builds the native module; see `build.mjs`.
try {
  module.exports = require('../toolmend.node');
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND') throw error;
  throw new Error('toolmend is not built; run `npm install` in its folder (this needs Rust)', { cause: error });
}
