'use strict';

// JSON Schemas from zod, from anything with a Standard JSON Schema, from the AI SDK's schemas, or from JSON Schema itself.

const TARGET = 'draft-2020-12';

/** Returns the JSON Schema of the input of a call. */
function schemaOf(source) {
  const standard = source?.['~standard'];
  if (standard?.jsonSchema?.input) return standard.jsonSchema.input({ target: TARGET });
  if (typeof source?.toJSONSchema === 'function') return source.toJSONSchema({ io: 'input' });
  if (typeof source?.toJsonSchema === 'function') return source.toJsonSchema();
  if (standard) {
    throw new TypeError(
      `${standard.vendor}: cannot convert this schema to JSON Schema; use the library's own function`,
    );
  }
  // `jsonSchema()`, `zodSchema()` and `asSchema()` of the AI SDK return such objects.
  if (source?.jsonSchema && typeof source.validate !== 'undefined') return source.jsonSchema;
  if (source === true || source === false || (typeof source === 'object' && source !== null)) return source;
  throw new TypeError(`expected a schema, found ${source === null ? 'null' : typeof source}`);
}

function isLibrarySchema(source) {
  return Boolean(
    source &&
      (source['~standard'] || typeof source.toJSONSchema === 'function' || typeof source.toJsonSchema === 'function'),
  );
}

// The properties in which tools of frameworks and APIs store their schema.
const SCHEMA_PROPERTIES = ['inputSchema', 'parameters', 'input_schema'];

function toDefinition(tool) {
  if (typeof tool !== 'object' || tool === null) return tool;
  const inner = tool.function ? { ...tool, function: toDefinition(tool.function) } : { ...tool };
  for (const name of SCHEMA_PROPERTIES) {
    const schema = inner[name];
    if (schema && typeof schema === 'object') inner[name] = schemaOf(schema);
  }
  delete inner.execute;
  return inner;
}

/** Converts tools to JSON: a list of definitions, one definition, or names with schemas or tools. */
function toDefinitions(tools) {
  if (tools === undefined || tools === null) return [];
  if (Array.isArray(tools)) return tools.map(toDefinition);
  if (isLibrarySchema(tools)) return schemaOf(tools);
  if (SCHEMA_PROPERTIES.some((name) => tools[name]) || tools.function) return toDefinition(tools);
  const entries = Object.entries(tools);
  if (entries.some(([, tool]) => isLibrarySchema(tool) || SCHEMA_PROPERTIES.some((name) => tool?.[name]))) {
    return Object.fromEntries(
      entries.map(([name, tool]) => [name, isLibrarySchema(tool) ? schemaOf(tool) : toDefinition(tool)]),
    );
  }
  return tools;
}

module.exports = { isLibrarySchema, schemaOf, toDefinitions };
