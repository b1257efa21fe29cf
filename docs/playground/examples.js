// The examples of the playground: a text with a schema, or a model's output with tools.

const FILE_SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' }, content: { type: 'string' } },
  required: ['path', 'content'],
};

const WEATHER_TOOLS = [
  {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city'],
    },
  },
];

export const EXAMPLES = {
  'almost JSON': { text: "{'city': 'Oslo', // the capital\n 'tags': ['fjord', 'museum',], direct: True}" },
  'quotes that are not escaped': {
    text: '{"path": "p.json", "content": "{"name": "x", "version": "1"}"}',
    schema: FILE_SCHEMA,
  },
  'two readings': {
    text: '{"sizes": [10, 200[10, 200, 3000]}',
    schema: { type: 'object', properties: { sizes: { type: 'array', items: { type: 'integer' } } } },
  },
  'cut off': { text: '{"path": "notes.md", "content": "Once upon a', schema: FILE_SCHEMA },
  'a call in a dialect': {
    text: 'One moment.\n[TOOL_CALLS]get_weather[ARGS]{city: "Oslo", days: "3"}',
    tools: WEATHER_TOOLS,
  },
  'a call with the wrong name': {
    text: '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>',
    tools: WEATHER_TOOLS,
  },
};
