'use strict';

// Stands in for the native module of the Node package (`crates/toolmend-node/js/native.cjs`).

const { loaded } = require('./module.mjs');

module.exports = {
  get Fixer() {
    return loaded().Fixer;
  },
  get Mender() {
    return loaded().Mender;
  },
  get Preview() {
    return loaded().Preview;
  },
  findFirstError: (text) => loaded().findFirstError(text),
};
