'use strict';

// JSON Schema from what TypeScript code has: zod, anything with a Standard JSON Schema, the AI SDK's schemas, or JSON
// Schema itself.

const TARGET = 'draft-2020-12';

/** The JSON Schema of what a call may write. */
function schemaOf(source) {
  const standard = source?.['~standard'];
  if (standard?.jsonSchema?.input) return standard.jsonSchema.input({ target: TARGET });
  if (typeof source?.toJSONSchema === 'function') return source.toJSONSchema({ io: 'input' });
  if (typeof source?.toJsonSchema === 'function') return source.toJsonSchema();
  if (standard) {
    throw new TypeError(
      `${standard.vendor}: this schema cannot be written as JSON Schema; convert it with the library's own function`,
    );
  }
  // What `jsonSchema()`, `zodSchema()` and `asSchema()` of the AI SDK return.
  if (source?.jsonSchema && typeof source.validate !== 'undefined') return source.jsonSchema;
  if (source === true || source === false || (typeof source === 'object' && source !== null)) return source;
  throw new TypeError(`expected a schema, found ${source === null ? 'null' : typeof source}`);
}

function isForeign(source) {
  return Boolean(
    source &&
      (source['~standard'] || typeof source.toJSONSchema === 'function' || typeof source.toJsonSchema === 'function'),
  );
}

// Where tools of frameworks and APIs keep their schema.
const PLACES = ['inputSchema', 'parameters', 'input_schema'];

function definition(tool) {
  if (typeof tool !== 'object' || tool === null) return tool;
  const inner = tool.function ? { ...tool, function: definition(tool.function) } : { ...tool };
  for (const place of PLACES) {
    const schema = inner[place];
    if (schema && typeof schema === 'object') inner[place] = schemaOf(schema);
  }
  delete inner.execute;
  return inner;
}

/** Tools as JSON has them: lists of definitions, one definition, or names with schemas or tools. */
function declared(tools) {
  if (tools === undefined || tools === null) return [];
  if (Array.isArray(tools)) return tools.map(definition);
  if (isForeign(tools)) return schemaOf(tools);
  if (PLACES.some((place) => tools[place]) || tools.function) return definition(tools);
  const entries = Object.entries(tools);
  if (entries.some(([, tool]) => isForeign(tool) || PLACES.some((place) => tool?.[place]))) {
    return Object.fromEntries(
      entries.map(([name, tool]) => [name, isForeign(tool) ? schemaOf(tool) : definition(tool)]),
    );
  }
  return tools;
}

module.exports = { schemaOf, declared };
