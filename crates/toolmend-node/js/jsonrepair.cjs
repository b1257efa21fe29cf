'use strict';
// The interface of the package `jsonrepair`, with toolmend's answers. Where the original makes something up, this throws.

const { MendError, fix } = require('./index.cjs');
const { findFirstError } = require('./native.cjs');

/** The error for a text that cannot be mended with certainty. `position` is where the text stops being JSON. */
class JSONRepairError extends Error {
  constructor(message, position, verdict) {
    super(`${message} at position ${position}`);
    this.position = position;
    this.verdict = verdict;
  }
}

/** Whether `JSON.parse` reads the text. It accepts half a surrogate pair, which is no text elsewhere. */
function isValid(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One document on each line becomes a list of all of them, digit by digit as they are. */
function joinLines(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const mended = lines.map((line) => fix(line).json);
  return lines.length > 1 && !mended.includes(null) ? `[\n${mended.join(',\n')}\n]` : undefined;
}

/** Returns the text as JSON. Valid text comes back as it is. */
function jsonrepair(text) {
  if (typeof text !== 'string') throw new TypeError(`expected a string, found ${text === null ? 'null' : typeof text}`);
  const verdict = fix(text);
  if (verdict.json !== null) return verdict.json;
  if (isValid(text)) return text;
  const joined = verdict.values?.length > 1 ? joinLines(text) : undefined;
  if (joined !== undefined) return joined;
  throw new JSONRepairError(new MendError(verdict).message.split('\n', 1)[0], findFirstError(text), verdict);
}

module.exports = { JSONRepairError, jsonrepair };
