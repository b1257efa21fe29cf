// Tests the dashboard in a real browser.
//
//     page.mjs UPSTREAM_PORT GATEWAY_URL PICTURES CHROMIUM
//
// Acts as the model server, sends calls through the gateway, and checks what the dashboard shows.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

// The packages are installed in the working directory.
const require = createRequire(path.join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [port, gateway, pictures, executablePath] = process.argv.slice(2);

// The model server answers with whatever the user message asks for.
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString() || "{}");
  const reply = body.messages ? JSON.parse(body.messages.at(-1).content) : {};
  const calls = reply.name ? [{ id: "call_1", type: "function", function: { name: reply.name, arguments: reply.arguments } }] : undefined;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ id: "x", object: "chat.completion", choices: [{ index: 0, finish_reason: reply.finish ?? (calls ? "tool_calls" : "stop"), message: { role: "assistant", content: reply.text ?? null, tool_calls: calls } }] }));
});
await new Promise((resolve) => server.listen(Number(port), "127.0.0.1", resolve));

const text = { type: "string" };
const TOOLS = Object.entries({
  get_weather: { city: text, days: { type: "integer" } },
  write_file: { path: text, content: text },
  search: { query: text, tags: { type: "array", items: text } },
  run_query: { sql: text, limit: { type: "integer" } },
}).map(([name, properties]) => ({ type: "function", function: { name, parameters: { type: "object", properties, required: [Object.keys(properties)[0]], additionalProperties: false } } }));

async function call(model, reply) {
  const response = await fetch(`${gateway}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model, messages: [{ role: "user", content: JSON.stringify(reply) }], tools: TOOLS }) });
  assert.equal(response.status, 200);
  await response.json();
}

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, colorScheme: "light", reducedMotion: "reduce" });
const page = await context.newPage();
const problems = [];
page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(message.text()); });
page.on("pageerror", (error) => problems.push(String(error)));
page.on("request", (request) => { if (new URL(request.url()).origin !== gateway) problems.push(`requested ${request.url()}`); });

let steps = 0;
async function step(what, work) {
  try {
    await work();
    steps += 1;
    process.stdout.write(`ok ${what}\n`);
  } catch (error) {
    await page.screenshot({ path: path.join(pictures, "failed.png") }).catch(() => {});
    process.stdout.write(`FAILED ${what}\n${error.stack}\n${problems.join("\n")}\n`);
    await browser.close();
    process.exit(1);
  }
}

async function assertAccessible(where) {
  // Evaluated by the browser itself, because the content security policy of the dashboard blocks foreign scripts.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  assert.deepEqual(serious.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map((node) => node.html).slice(0, 3).join(" | ")}`), []);
}

async function assertFitsWidth(where) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `${where} is ${over} pixels too wide`);
}

const rows = page.locator(".rows li");
const takePicture = (name) => page.screenshot({ path: path.join(pictures, `${name}.png`) });

await step("an empty journal says how to fill it", async () => {
  await page.goto(gateway);
  await page.getByRole("heading", { name: "No repairs yet" }).waitFor();
  await page.locator(".live.on").waitFor();
  await assertAccessible("empty");
  await takePicture("empty");
});

await step("a new call appears without a reload", async () => {
  await call("qwen3-coder:30b", { name: "get_weather", arguments: "{'city': 'Tromsø', 'days': \"3\",}" });
  await rows.first().waitFor();
  assert.equal(await rows.count(), 1);
  assert.match(await rows.first().innerText(), /mended[\s\S]*get_weather/);
  assert.equal(await page.locator(".list .empty").count(), 0);
});

await step("clean calls are counted but not listed", async () => {
  await call("qwen3-coder:30b", { name: "get_weather", arguments: "{\"city\": \"Bergen\"}" });
  await call("qwen3-coder:30b", { name: "search", arguments: "{\"query\": \"fjords\", \"tags\": \"sea\"}" });
  await rows.nth(1).waitFor();
  assert.equal(await rows.count(), 2);
});

await step("a call is shown with a diff, and every repair is explained", async () => {
  await rows.last().locator("a").click();
  await page.locator(".call").waitFor();
  assert.ok((await page.locator(".before del").count()) > 0);
  assert.ok((await page.locator(".after ins").count()) > 0);
  assert.equal(await page.locator(".after pre").innerText(), "{\"city\": \"Tromsø\", \"days\": 3}");
  const repairs = page.locator(".repairs li");
  assert.ok((await repairs.count()) >= 3);
  for (const repair of await repairs.all()) assert.match(await repair.innerText(), /\w+_\w+[\s\S]+\./);
  await repairs.first().hover();
  assert.ok((await page.locator(".repaired.on").count()) > 0);
  await assertAccessible("a call");
});

await step("model output is never rendered as markup", async () => {
  await call("mistral-small", { name: "write_file", arguments: "{\"path\": \"a.html\", \"content\": \"<img src=x onerror=alert(1)> say \"hi\"\"}" });
  await rows.nth(2).waitFor();
  await rows.first().locator("a").click();
  await page.getByRole("heading", { name: "write_file" }).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
});

await step("calls that do not run say why", async () => {
  await call("llama-3.3-70b", { name: "write_file", arguments: "{\"path\": \"notes.md\", \"content\": \"Once upon a", finish: "length" });
  await call("llama-3.3-70b", { name: "run_query", arguments: "{\"limit\": 5}" });
  await call("gemma-3-12b", { text: "One moment.\n<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"maps\", \"tags\": [\"a\",]}}\n</tool_call>" });
  await rows.nth(5).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Truncated" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".rows li").length === 1);
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "Feedback for the model" }).waitFor();
  await assertAccessible("a truncated call");
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll(".rows li").length === 6);
});

await step("everything works with the keyboard", async () => {
  await page.keyboard.press("Escape");
  await page.locator(".hint").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.locator(".rows li:nth-child(2) a[aria-current]").waitFor();
  await page.keyboard.press("k");
  await page.locator(".rows li:nth-child(1) a[aria-current]").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  await page.getByRole("heading", { name: "Rates" }).waitFor();
});

await step("charts are drawn", async () => {
  for (let at = 0; at < 40; at += 1) {
    const model = ["qwen3-coder:30b", "mistral-small", "gemma-3-12b", "llama-3.3-70b"][(at * 3 + (at >> 2)) % 4];
    const { name, parameters } = TOOLS[at % 4].function;
    const [first] = parameters.required;
    const values = [`{"${first}": "a", }`, `{"${first}": "b"}`, `{'${first}': 'c'}`, `{"${first}": "d"}`, `{${first}: "e"}`, `{"${first}": "cut o`, `{"${first}": 5}`, `{"${first}": "f"}`, `{}`, `{"${first}": "say "g" twice"}`];
    await call(model, { name, arguments: values[at % values.length] });
  }
  // The counters are written shortly after the calls.
  await page.waitForFunction(async () => {
    const chart = await (await fetch("/toolmend/api/chart?by=outcome&range=1h")).json();
    return chart.calls.reduce((sum, calls) => sum + calls, 0) >= 46;
  });
  await page.getByRole("button", { name: "Hour" }).click();
  const drawn = page.locator(".charts[aria-busy=false]");
  await drawn.waitFor();
  assert.equal(await page.locator(".chart svg").count(), 4);
  const bars = await page.evaluate(() => Array.from(document.querySelectorAll(".chart rect:not(.touch)"), (bar) => bar.getBBox().height));
  assert.ok(bars.length >= 4 && bars.every((height) => height > 0), `${bars}`);
  await page.getByRole("button", { name: "Share of calls" }).click();
  await drawn.waitFor();
  assert.ok((await page.getByText("100%").count()) > 0);
  assert.ok((await page.locator(".worst tbody tr").count()) >= 3);
  assert.ok((await page.locator(".worst q").count()) >= 1);
  await assertAccessible("rates");
  await takePicture("rates");
});

await step("the playground updates while the user types", async () => {
  await page.getByRole("link", { name: "Playground" }).click();
  await page.locator(".card .outcome.mended").waitFor();
  assert.ok((await page.locator(".part-reasoning").count()) > 0);
  await assertAccessible("playground");
  await takePicture("playground");
  await page.locator("#output").fill("");
  await page.locator("#output").pressSequentially("<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Voss'}}</tool_call>");
  await page.waitForFunction(() => document.querySelector(".after pre")?.innerText === "{\"city\": \"Voss\"}");
  await page.locator("#tools").fill("[{");
  await page.getByText("not valid JSON yet").waitFor();
  await page.getByLabel("Example").selectOption({ label: "A truncated file" });
  await page.locator(".card .outcome.truncated").waitFor();
});

await step("dialects can be searched", async () => {
  await page.getByRole("link", { name: "Dialects" }).click();
  await page.locator(".dialect").first().waitFor();
  assert.ok((await page.locator(".dialect").count()) >= 80);
  await assertAccessible("dialects");
  await page.getByLabel("Search dialects").fill("qwen");
  await page.waitForFunction(() => { const count = document.querySelectorAll(".dialect").length; return count > 0 && count < 40; });
});

await step("servers are shown without their keys", async () => {
  await page.getByRole("link", { name: "Servers" }).click();
  await page.getByText("reachable in").waitFor();
  const shown = await page.locator("main").innerText();
  assert.ok(!shown.includes("hidden") && !shown.includes("sesame"), shown);
  await assertAccessible("servers");
  await takePicture("servers");
});

await step("a call can be deleted with the admin key", async () => {
  await page.getByLabel("Admin key").fill("open sesame");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("You are signed in").waitFor();
  await page.getByRole("link", { name: "Calls" }).click();
  await rows.first().waitFor();
  const id = await rows.first().getAttribute("data-id");
  await rows.first().locator("a").click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.locator(`[data-id="${id}"]`).waitFor({ state: "detached" });
  assert.ok(!(await (await fetch(`${gateway}/toolmend/api/entries`)).text()).includes(id));
});

await step("dark theme and narrow windows", async () => {
  assert.equal(await rows.filter({ hasText: "Tromsø" }).count(), 0, "the list does not contain values");
  const first = await rows.filter({ hasText: "string_to_number" }).last().getAttribute("data-id");
  await page.goto(`${gateway}/#/calls/${first}`);
  await page.locator(".repairs").waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await takePicture("calls");
  for (const theme of ["dark", "light"]) {
    await page.evaluate((theme) => { document.documentElement.dataset.theme = theme; }, theme);
    for (const [width, height] of [[1360, 860], [390, 844]]) {
      await page.setViewportSize({ width, height });
      for (const view of ["calls", "rates", "playground", "dialects", "servers"]) {
        await page.goto(`${gateway}/#/${view}`);
        await page.locator({ calls: ".rows li", rates: ".chart svg", playground: ".card", dialects: ".dialect", servers: ".card" }[view]).first().waitFor();
        await page.evaluate((theme) => { document.documentElement.dataset.theme = theme; }, theme);
        await assertAccessible(`${view}, ${theme}, ${width} wide`);
        await assertFitsWidth(`${view}, ${width} wide`);
        await takePicture(`${view}-${theme}-${width}`);
      }
      await page.goto(`${gateway}/#/calls`);
      await rows.first().waitFor();
      await rows.first().locator("a").click();
      await page.locator(".call").waitFor();
      await assertFitsWidth(`a call, ${width} wide`);
      await assertAccessible(`a call, ${theme}, ${width} wide`);
      await takePicture(`call-${theme}-${width}`);
    }
  }
});

await step("there were no errors, warnings or requests to other hosts", async () => {
  assert.deepEqual(problems, []);
});

await browser.close();
server.close();
server.closeAllConnections();
process.stdout.write(`${steps} of ${steps} steps passed\n`);
