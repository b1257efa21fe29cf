'use strict';

// The native module of the Node package on platforms for which none is built.

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { loadSync, loaded } = require('./module.mjs');

loadSync(readFileSync(join(__dirname, 'toolmend.wasm')));
const { Fixer, Mender, Preview, findFirstError } = loaded();
module.exports = { Fixer, Mender, Preview, findFirstError };
