// The playground: reads the text again whenever something changes.

import init, { Mender, fix } from './toolmend/web.mjs';
import { EXAMPLES } from './examples.js';

const find = (name) => document.getElementById(`playground-${name}`);
const [form, kind, example, policy] = [document.getElementById('playground'), find('kind'), find('example'), find('policy')];
const [text, schema, schemaLabel, answer] = [find('text'), find('schema'), find('schema-label'), find('answer')];

/** Makes an element. What is no element becomes text. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const section = (level, title, ...children) => [make(level, {}, title), ...children];
const code = (content) => make('pre', { tabindex: '0' }, content);
const showValue = (value) => code(JSON.stringify(value, null, 2));
const showOutcome = (outcome) => make('p', { class: `playground-outcome ${outcome}` }, outcome);

function showRepairs(level, repairs) {
  if (repairs.length === 0) return [];
  const items = repairs.map(({ kind, tier, summary, path }) =>
    make('li', {}, make('code', {}, kind), ` (${tier}): ${summary}`, path === '' ? '' : ' at ', path === '' ? '' : make('code', {}, path)),
  );
  return section(level, 'Repairs', make('ul', {}, items));
}

/** Shows values side by side. */
function showSideBySide(level, title, values) {
  if (values.length === 0) return [];
  return section(level, title, make('div', { class: 'playground-readings' }, values.map(showValue)));
}

/** Shows a verdict under headings of this level. */
function showVerdict(level, verdict) {
  return [
    verdict.json === null ? [] : section(level, 'JSON', code(verdict.json)),
    showSideBySide(level, 'The readings, of which none was chosen', verdict.readings),
    showSideBySide(level, 'Several values', verdict.values),
    verdict.cut === null ? [] : section(level, 'Cut off inside', code(verdict.cut === '' ? 'the whole value' : verdict.cut)),
    verdict.feedback === null ? [] : section(level, 'What the model is told', code(verdict.feedback)),
    showRepairs(level, verdict.repairs),
  ].flat();
}

function showTurn(turn) {
  const calls = turn.calls.flatMap((call) => [
    make('h2', {}, `Call of ${call.name}, as ${call.dialect} writes it`),
    showOutcome(call.outcome),
    ...showVerdict('h3', call.verdict),
  ]);
  return [
    turn.content === '' ? [] : section('h2', 'Content', code(turn.content)),
    turn.reasoning === '' ? [] : section('h2', 'Reasoning', code(turn.reasoning)),
    showRepairs('h2', turn.repairs),
    calls,
    turn.calls.length > 0 ? [] : [make('p', {}, 'No calls.')],
  ].flat();
}

function read() {
  const declared = schema.value.trim() === '' ? undefined : JSON.parse(schema.value);
  if (kind.value === 'json') {
    const verdict = fix(text.value, declared, { policy: policy.value });
    return [showOutcome(verdict.outcome), ...showVerdict('h2', verdict)];
  }
  const turn = new Mender(declared ?? [], { policy: policy.value }).turn(text.value);
  return [showOutcome(turn.outcome), ...showTurn(turn)];
}

function update() {
  schemaLabel.textContent = kind.value === 'json' ? 'JSON Schema (may be empty)' : 'Tools, as any API declares them';
  try {
    answer.replaceChildren(...read());
  } catch (error) {
    answer.replaceChildren(make('p', { class: 'playground-outcome rejected' }, String(error.message)));
  }
}

function showExample() {
  const chosen = EXAMPLES[example.value];
  kind.value = chosen.tools ? 'output' : 'json';
  text.value = chosen.text;
  const declared = chosen.tools ?? chosen.schema;
  schema.value = declared ? JSON.stringify(declared, null, 2) : '';
  update();
}

example.append(...Object.keys(EXAMPLES).map((name) => make('option', {}, name)));
example.addEventListener('change', showExample);
form.addEventListener('submit', (event) => event.preventDefault());
for (const input of [kind, policy, text, schema]) input.addEventListener('input', update);

try {
  await init();
  showExample();
} catch (error) {
  answer.textContent = `The WebAssembly module could not be loaded: ${error.message}`;
}
