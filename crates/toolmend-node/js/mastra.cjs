'use strict';

// Mastra: wraps the model of an agent.

const { wrapModel } = require('./language-model.cjs');

/** Wraps a model of the AI SDK and mends its calls, also those that it writes into its text. */
function mended(model, { describeTools = false, policy, dialect } = {}) {
  return wrapModel(model, { describesTools: describeTools, policy, dialect });
}

module.exports = { mended };
