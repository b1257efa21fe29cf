// The page in a real browser.
//
//     page.mjs UPSTREAM_PORT GATEWAY_URL PICTURES CHROMIUM
//
// Plays the model server, sends calls through the gateway, and looks at what the page makes of them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";

// The packages stand in the folder that the command runs in.
const find = createRequire(path.join(process.cwd(), "package.json"));
const { chromium } = find("playwright-core");
const axe = readFileSync(find.resolve("axe-core/axe.min.js"), "utf8");

const [port, gateway, pictures, executablePath] = process.argv.slice(2);

// The model says what the message of the user asks it to say.
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const asked = JSON.parse(Buffer.concat(chunks).toString() || "{}");
  const said = asked.messages ? JSON.parse(asked.messages.at(-1).content) : {};
  const calls = said.name ? [{ id: "call_1", type: "function", function: { name: said.name, arguments: said.arguments } }] : undefined;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ id: "x", object: "chat.completion", choices: [{ index: 0, finish_reason: said.finish ?? (calls ? "tool_calls" : "stop"), message: { role: "assistant", content: said.text ?? null, tool_calls: calls } }] }));
});
await new Promise((resolve) => server.listen(Number(port), "127.0.0.1", resolve));

const text = { type: "string" };
const TOOLS = Object.entries({
  get_weather: { city: text, days: { type: "integer" } },
  write_file: { path: text, content: text },
  search: { query: text, tags: { type: "array", items: text } },
  run_query: { sql: text, limit: { type: "integer" } },
}).map(([name, properties]) => ({ type: "function", function: { name, parameters: { type: "object", properties, required: [Object.keys(properties)[0]], additionalProperties: false } } }));

async function call(model, said) {
  const response = await fetch(`${gateway}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model, messages: [{ role: "user", content: JSON.stringify(said) }], tools: TOOLS }) });
  assert.equal(response.status, 200);
  await response.json();
}

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const context = await browser.newContext({ viewport: { width: 1360, height: 860 }, colorScheme: "light", reducedMotion: "reduce" });
const page = await context.newPage();
const complaints = [];
page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
page.on("pageerror", (error) => complaints.push(String(error)));
page.on("request", (request) => { if (new URL(request.url()).origin !== gateway) complaints.push(`asked for ${request.url()}`); });

let steps = 0;
async function step(what, work) {
  try {
    await work();
    steps += 1;
    process.stdout.write(`ok ${what}\n`);
  } catch (error) {
    await page.screenshot({ path: path.join(pictures, "failed.png") }).catch(() => {});
    process.stdout.write(`FAILED ${what}\n${error.stack}\n${complaints.join("\n")}\n`);
    await browser.close();
    process.exit(1);
  }
}

async function accessible(where) {
  // The tester is put in by the browser itself: the page's own policy does not let strangers in.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  assert.deepEqual(serious.map(({ id, nodes }) => `${where}: ${id}: ${nodes.map((node) => node.html).slice(0, 3).join(" | ")}`), []);
}

async function fits(where) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `${where} is ${over} pixels too wide`);
}

const rows = page.locator(".rows li");
const picture = (name) => page.screenshot({ path: path.join(pictures, `${name}.png`) });

await step("an empty journal says how to fill it", async () => {
  await page.goto(gateway);
  await page.getByRole("heading", { name: "Nothing needed mending yet" }).waitFor();
  await page.locator(".live.on").waitFor();
  await accessible("empty");
  await picture("empty");
});

await step("a call shows up by itself", async () => {
  await call("qwen3-coder:30b", { name: "get_weather", arguments: "{'city': 'Tromsø', 'days': \"3\",}" });
  await rows.first().waitFor();
  assert.equal(await rows.count(), 1);
  assert.match(await rows.first().innerText(), /mended[\s\S]*get_weather/);
  assert.equal(await page.locator(".list .empty").count(), 0);
});

await step("clean calls are counted and not listed", async () => {
  await call("qwen3-coder:30b", { name: "get_weather", arguments: "{\"city\": \"Bergen\"}" });
  await call("qwen3-coder:30b", { name: "search", arguments: "{\"query\": \"fjords\", \"tags\": \"sea\"}" });
  await rows.nth(1).waitFor();
  assert.equal(await rows.count(), 2);
});

await step("a call is shown with its difference, and every repair is explained", async () => {
  await rows.last().locator("a").click();
  await page.locator(".call").waitFor();
  assert.ok((await page.locator(".before del").count()) > 0);
  assert.ok((await page.locator(".after ins").count()) > 0);
  assert.equal(await page.locator(".after pre").innerText(), "{\"city\": \"Tromsø\", \"days\": 3}");
  const repairs = page.locator(".repairs li");
  assert.ok((await repairs.count()) >= 3);
  for (const repair of await repairs.all()) assert.match(await repair.innerText(), /\w+_\w+[\s\S]+\./);
  await repairs.first().hover();
  assert.ok((await page.locator(".place.on").count()) > 0);
  await accessible("a call");
});

await step("what a model wrote is never markup", async () => {
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
  await page.getByRole("button", { name: "Cut off" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".rows li").length === 1);
  await page.keyboard.press("j");
  await page.getByRole("heading", { name: "What the model was told" }).waitFor();
  await accessible("a call that was cut off");
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll(".rows li").length === 6);
});

await step("the keyboard is enough", async () => {
  await page.keyboard.press("Escape");
  await page.locator(".hint").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.locator(".rows li:nth-child(2) a[aria-current]").waitFor();
  await page.keyboard.press("k");
  await page.locator(".rows li:nth-child(1) a[aria-current]").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard" }).waitFor();
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
  // The counters are written a moment after the calls.
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
  await accessible("rates");
  await picture("rates");
});

await step("the playground answers while one types", async () => {
  await page.getByRole("link", { name: "Playground" }).click();
  await page.locator(".card .outcome.mended").waitFor();
  assert.ok((await page.locator(".part-reasoning").count()) > 0);
  await accessible("playground");
  await picture("playground");
  await page.locator("#output").fill("");
  await page.locator("#output").pressSequentially("<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Voss'}}</tool_call>");
  await page.waitForFunction(() => document.querySelector(".after pre")?.innerText === "{\"city\": \"Voss\"}");
  await page.locator("#tools").fill("[{");
  await page.getByText("no JSON yet").waitFor();
  await page.getByLabel("Example").selectOption({ label: "A file that was cut off" });
  await page.locator(".card .outcome.truncated").waitFor();
});

await step("dialects can be searched", async () => {
  await page.getByRole("link", { name: "Dialects" }).click();
  await page.locator(".dialect").first().waitFor();
  assert.ok((await page.locator(".dialect").count()) >= 80);
  await accessible("dialects");
  await page.getByLabel("Search in the dialects").fill("qwen");
  await page.waitForFunction(() => { const count = document.querySelectorAll(".dialect").length; return count > 0 && count < 40; });
});

await step("servers are shown without their keys", async () => {
  await page.getByRole("link", { name: "Servers" }).click();
  await page.getByText("reachable in").waitFor();
  const shown = await page.locator("main").innerText();
  assert.ok(!shown.includes("hidden") && !shown.includes("sesame"), shown);
  await accessible("servers");
  await picture("servers");
});

await step("with the key, a call can be deleted", async () => {
  await page.getByLabel("Admin key").fill("open sesame");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.getByText("You have the key").waitFor();
  await page.getByRole("link", { name: "Calls" }).click();
  await rows.first().waitFor();
  const id = await rows.first().getAttribute("data-id");
  await rows.first().locator("a").click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.locator(`[data-id="${id}"]`).waitFor({ state: "detached" });
  assert.ok(!(await (await fetch(`${gateway}/toolmend/api/entries`)).text()).includes(id));
});

await step("dark and narrow", async () => {
  assert.equal(await rows.filter({ hasText: "Tromsø" }).count(), 0, "values do not stand in the list");
  const first = await rows.filter({ hasText: "string_to_number" }).last().getAttribute("data-id");
  await page.goto(`${gateway}/#/calls/${first}`);
  await page.locator(".repairs").waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await picture("calls");
  for (const theme of ["dark", "light"]) {
    await page.evaluate((theme) => { document.documentElement.dataset.theme = theme; }, theme);
    for (const [width, height] of [[1360, 860], [390, 844]]) {
      await page.setViewportSize({ width, height });
      for (const view of ["calls", "rates", "playground", "dialects", "servers"]) {
        await page.goto(`${gateway}/#/${view}`);
        await page.locator({ calls: ".rows li", rates: ".chart svg", playground: ".card", dialects: ".dialect", servers: ".card" }[view]).first().waitFor();
        await page.evaluate((theme) => { document.documentElement.dataset.theme = theme; }, theme);
        await accessible(`${view}, ${theme}, ${width} wide`);
        await fits(`${view}, ${width} wide`);
        await picture(`${view}-${theme}-${width}`);
      }
      await page.goto(`${gateway}/#/calls`);
      await rows.first().waitFor();
      await rows.first().locator("a").click();
      await page.locator(".call").waitFor();
      await fits(`a call, ${width} wide`);
      await accessible(`a call, ${theme}, ${width} wide`);
      await picture(`call-${theme}-${width}`);
    }
  }
});

await step("nothing was complained about, and nobody else was asked", async () => {
  assert.deepEqual(complaints, []);
});

await browser.close();
server.close();
server.closeAllConnections();
process.stdout.write(`${steps} of ${steps} steps went well\n`);
