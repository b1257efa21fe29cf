// Tests both builds and the playground in a real browser:
//
//     browser.mjs PACKAGE RECORDS SITE CHROMIUM PICTURES

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serveFolders } from './serve_folders.mjs';

const require = createRequire(import.meta.url);
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const [packageFolder, records, site, executablePath, pictures] = process.argv.slice(2);
const server = await serveFolders({ package: packageFolder, records, site, tests: import.meta.dirname });
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

const problems = [];

async function openPage(options) {
  const page = await (await browser.newContext({ reducedMotion: 'reduce', ...options })).newPage();
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => new URL(request.url()).origin !== server.origin && problems.push(`requested ${request.url()}`));
  return page;
}

/** Answers every record, or one of so many, in the browser. Returns how many there were and which answers differ. */
async function answerInBrowser(page, name, policy, oneOf) {
  return page.evaluate(
    async ({ name, policy, oneOf }) => {
      const [full, light, { answerRecord, expectedAnswer }] = await Promise.all(
        ['/package/full/web.mjs', '/package/light/web.mjs', '/tests/answers.mjs'].map((file) => import(file)),
      );
      await Promise.all([full.default(), light.default()]);
      const readLines = async (file) =>
        (await (await fetch(`/records/${file}`)).text()).trimEnd().split('\n').map((line) => JSON.parse(line));
      const [records, answers] = [await readLines(`${name}.records`), await readLines(`${name}.answers`)];
      // Members may be in any order, and undefined ones are none.
      const normalise = (value) =>
        JSON.stringify(value, (_, it) =>
          it !== null && typeof it === 'object' && !Array.isArray(it) ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1))) : it,
        );
      const wrong = [];
      let count = 0;
      records.forEach((record, index) => {
        if (index % oneOf !== 0) return;
        count += 1;
        const expected = normalise(expectedAnswer(record, answers[index]));
        const isPlain = 'json' in record && record.schema === undefined;
        for (const build of isPlain ? [full, light] : [full]) {
          const got = normalise(answerRecord(build, record, policy));
          if (got !== expected) wrong.push(`${record.id}: expected ${expected}, found ${got}`);
        }
      });
      return { count, wrong: wrong.slice(0, 5) };
    },
    { name, policy, oneOf },
  );
}

async function testAnswers() {
  const page = await openPage({});
  await page.goto(`${server.origin}/tests/empty.html`);
  const files = readdirSync(records).filter((file) => file.endsWith('.records'));
  assert.ok(files.includes('balanced.records'));
  for (const name of files.map((file) => file.replace('.records', ''))) {
    // The module was tested with all of them in Node. Here only the engine is another.
    const [policy, oneOf] = name === 'cases' ? ['balanced', 5] : [name, 1];
    const { count, wrong } = await answerInBrowser(page, name, policy, oneOf);
    assert.deepEqual(wrong, [], name);
    console.log(`ok ${name}: ${count} answers of the command in the browser`);
  }
}

async function testPlayground(colorScheme, width) {
  const page = await openPage({ colorScheme, viewport: { width, height: 900 } });
  await page.goto(`${server.origin}/site/playground/`);
  const answer = page.locator('#playground-answer');
  const outcome = answer.locator('.playground-outcome').first();
  const choose = (name) => page.selectOption('#playground-example', name);
  await outcome.filter({ hasText: 'mended' }).waitFor();

  await choose('two readings');
  await outcome.filter({ hasText: 'rejected' }).waitFor();
  const readings = (await answer.locator('.playground-readings pre').allTextContents()).map((reading) => JSON.parse(reading));
  assert.deepEqual(readings, [{ sizes: [10, '200[10, 200, 3000]'] }, { sizes: [10, 200, 10, 200, 3000] }]);

  await choose('a call in a dialect');
  await answer.getByRole('heading', { name: 'Call of get_weather, as mistral' }).waitFor();
  assert.match(await answer.textContent(), /string_to_number|number_/);
  await page.fill('#playground-schema', '[{]');
  await outcome.filter({ hasText: 'JSON' }).waitFor();

  await choose('cut off');
  await page.fill('#playground-text', '{"path": "a", "content": "b",}');
  await outcome.filter({ hasText: 'mended' }).waitFor();
  assert.match(await answer.textContent(), /trailing_comma_removed/);

  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `at ${width} px the page is ${over} px too wide`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run('#playground', { resultTypes: ['violations'] }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).slice(0, 3).join(' | ')}`), []);
  await page.screenshot({ path: join(pictures, `playground-${colorScheme}-${width}.png`), fullPage: true });
  console.log(`ok the playground, ${colorScheme}, ${width} px`);
}

try {
  await testAnswers();
  for (const colorScheme of ['light', 'dark']) for (const width of [390, 1200]) await testPlayground(colorScheme, width);
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
  server.close();
}
