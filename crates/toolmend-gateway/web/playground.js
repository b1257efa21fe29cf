// The playground: repairs input while the user types. It needs no model server.

import { loadTables, post } from "./api.js";
import { quotedSection, repairList } from "./call.js";
import { sideBySide } from "./diff.js";
import { h, replace, select } from "./dom.js";
import { outcomeBadge } from "./format.js";

const WEATHER = `[
  {
    "name": "get_weather",
    "parameters": {
      "type": "object",
      "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"}
      },
      "required": ["city"]
    }
  }
]`;

const WRITE = `[
  {
    "name": "write_file",
    "parameters": {
      "type": "object",
      "properties": {
        "path": {"type": "string"},
        "content": {"type": "string"}
      },
      "required": ["path", "content"]
    }
  }
]`;

const EXAMPLES = [
  ["A call in the text", "<think>They want the weather. I should call the tool.</think>Let me look.\n<tool_call>\n{'name': 'GetWeather', 'arguments': {'city': 'Oslo', 'days': \"3\",}}\n</tool_call>", WEATHER, ""],
  ["Unescaped quotes", "{\"path\": \"page.html\", \"content\": \"<p class=\"lead\">Hello, \"world\"</p>\"}", WRITE, "write_file"],
  ["A truncated file", "{\"path\": \"notes.md\", \"content\": \"# Notes\\n\\nThe first thing to kn", WRITE, "write_file"],
  ["Two readings", "{\"note\": \"5\" pipe\", \"other\": \"3\" one\"}", "", "note"],
  ["A Python call", "get_weather(city='Oslo', days=3)", WEATHER, "get_weather"],
];

const input = { text: EXAMPLES[0][1], tools: EXAMPLES[0][2], tool: EXAMPLES[0][3], finish: "", policy: "", dialect: "", model: "" };

export async function showPlayground({ main }) {
  const tables = await loadTables();
  const text = h("textarea", { id: "output", rows: 10, spellcheck: "false", value: input.text, oninput: (event) => setInput("text", event.target.value) });
  const tools = h("textarea", { id: "tools", rows: 12, spellcheck: "false", value: input.tools, oninput: (event) => setInput("tools", event.target.value) });
  const problem = h("p", { class: "problem", role: "status" });
  const reading = h("div");
  const result = h("div", { class: "result", role: "region", "aria-label": "Result", "aria-live": "polite" });
  replace(main, h("div", { class: "playground" },
    h("div", { class: "title" }, h("h1", {}, "Playground"),
      h("label", { class: "field" }, h("span", {}, "Example"), h("select", { onchange: (event) => loadExample(Number(event.target.value)) }, EXAMPLES.map(([name, text], at) => h("option", { value: at, selected: text === input.text }, name))))),
    h("div", { class: "halves" },
      h("div", { class: "inputs" },
        h("label", { for: "output" }, "Model output"), text,
        h("label", { for: "tools" }, "Tools, in the format of any API"), tools, problem,
        h("div", { class: "bar" }, reading,
          select("Finish reason", "unknown", ["stop", "length"], input.finish, (value) => setInput("finish", value)),
          select("Policy", "balanced", ["off", "strict", "eager"], input.policy, (value) => setInput("policy", value)),
          select("Dialect", "auto", tables.dialects.map((row) => row.name), input.dialect, (value) => setInput("dialect", value)))),
      result)));

  function loadExample(at) {
    [, input.text, input.tools, input.tool] = EXAMPLES[at];
    text.value = input.text;
    tools.value = input.tools;
    run();
  }

  let timer;
  function setInput(name, value) {
    input[name] = value;
    clearTimeout(timer);
    timer = setTimeout(run, 120);
  }

  let pending;
  let drawn = "";
  async function run() {
    pending?.abort();
    pending = new AbortController();
    let answer;
    try {
      answer = await post("mend", input, pending.signal);
    } catch (error) {
      if (error.name !== "AbortError") replace(result, h("p", { class: "notice" }, error.message));
      return;
    }
    problem.textContent = answer.tools.error ? `The tools are not valid JSON yet: ${answer.tools.error}` : answer.tools.notes.join("; ");
    const names = JSON.stringify([answer.tools.names, input.tool]);
    if (names !== drawn) {
      drawn = names;
      replace(reading, select("Read as", "whole output", answer.tools.names, input.tool, (value) => setInput("tool", value)));
    }
    showAnswer(answer);
  }

  function showAnswer(answer) {
    const segments = h("section", { class: "pane", "aria-label": "Parts of the output" }, h("h3", {}, "Parts of the output"),
      h("pre", { class: "segments", tabindex: "0" }, answer.segments.map((segment) => h("span", { class: `segment part-${segment.part}`, title: segment.part }, segment.text))),
      h("ul", { class: "legend" }, ["content", "reasoning", "call", "markup"].filter((part) => answer.segments.some((segment) => segment.part === part)).map((part) => h("li", {}, h("span", { class: `segment part-${part}` }, part)))));
    const cards = answer.calls.map((call) => {
      const runs = call.outcome === "clean" || call.outcome === "mended";
      const after = runs ? call.arguments ?? (call.calls ?? []).map((one) => one.arguments).join("\n") : null;
      const diff = sideBySide(call.raw, after, call.repairs);
      return h("article", { class: "card" },
        h("header", {}, outcomeBadge(call.outcome), h("h2", {}, call.name || "unnamed call"), call.dialect && h("span", { class: "muted" }, `${call.dialect}, ${call.source}`)),
        diff, repairList(call.repairs, tables.repairs, diff),
        quotedSection("What is wrong", call.message), quotedSection("Feedback for the model", call.feedback));
    });
    const texts = [["Content", answer.content], ["Reasoning", answer.reasoning]].filter(([, text]) => text.trim());
    replace(result,
      input.tool ? null : segments,
      cards.length ? cards : h("p", { class: "nothing" }, input.text.trim() ? "No call found in this text." : "Type something to see the result."),
      texts.length ? h("dl", { class: "facts" }, texts.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text.trim())])) : null,
      answer.notes.map((note) => h("p", { class: "notice" }, note)));
  }

  await run();
  return { keys: { "/": () => text.focus() } };
}
