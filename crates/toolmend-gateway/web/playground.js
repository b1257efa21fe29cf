// The playground: what the library makes of a text, as it is typed. No model server is needed.

import { post, tables } from "./api.js";
import { repairList, words } from "./call.js";
import { sideBySide } from "./diff.js";
import { h, replace, select } from "./dom.js";
import { outcome } from "./words.js";

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
  ["Quotes that are not escaped", "{\"path\": \"page.html\", \"content\": \"<p class=\"lead\">Hello, \"world\"</p>\"}", WRITE, "write_file"],
  ["A file that was cut off", "{\"path\": \"notes.md\", \"content\": \"# Notes\\n\\nThe first thing to kn", WRITE, "write_file"],
  ["Two readings", "{\"note\": \"5\" pipe\", \"other\": \"3\" one\"}", "", "note"],
  ["Python", "get_weather(city='Oslo', days=3)", WEATHER, "get_weather"],
];

const kept = { text: EXAMPLES[0][1], tools: EXAMPLES[0][2], tool: EXAMPLES[0][3], finish: "", policy: "", dialect: "", model: "" };

export async function playground({ main }) {
  const known = await tables();
  const text = h("textarea", { id: "output", rows: 10, spellcheck: "false", value: kept.text, oninput: (event) => set("text", event.target.value) });
  const tools = h("textarea", { id: "tools", rows: 12, spellcheck: "false", value: kept.tools, oninput: (event) => set("tools", event.target.value) });
  const problem = h("p", { class: "problem", role: "status" });
  const reading = h("div");
  const result = h("div", { class: "result", role: "region", "aria-label": "Result", "aria-live": "polite" });
  replace(main, h("div", { class: "playground" },
    h("div", { class: "title" }, h("h1", {}, "Playground"),
      h("label", { class: "field" }, h("span", {}, "Example"), h("select", { onchange: (event) => example(Number(event.target.value)) }, EXAMPLES.map(([name, text], at) => h("option", { value: at, selected: text === kept.text }, name))))),
    h("div", { class: "halves" },
      h("div", { class: "inputs" },
        h("label", { for: "output" }, "What the model wrote"), text,
        h("label", { for: "tools" }, "Tools, as any API takes them"), tools, problem,
        h("div", { class: "bar" }, reading,
          select("Finish reason", "not known", ["stop", "length"], kept.finish, (value) => set("finish", value)),
          select("Policy", "balanced", ["off", "strict", "eager"], kept.policy, (value) => set("policy", value)),
          select("Dialect", "auto", known.dialects.map((row) => row.name), kept.dialect, (value) => set("dialect", value)))),
      result)));

  function example(at) {
    [, kept.text, kept.tools, kept.tool] = EXAMPLES[at];
    text.value = kept.text;
    tools.value = kept.tools;
    run();
  }

  let timer;
  function set(name, value) {
    kept[name] = value;
    clearTimeout(timer);
    timer = setTimeout(run, 120);
  }

  let asking;
  let drawn = "";
  async function run() {
    asking?.abort();
    asking = new AbortController();
    let answer;
    try {
      answer = await post("mend", kept, asking.signal);
    } catch (error) {
      if (error.name !== "AbortError") replace(result, h("p", { class: "notice" }, error.message));
      return;
    }
    problem.textContent = answer.tools.error ? `The tools are no JSON yet: ${answer.tools.error}` : answer.tools.notes.join("; ");
    const names = JSON.stringify([answer.tools.names, kept.tool]);
    if (names !== drawn) {
      drawn = names;
      replace(reading, select("Read as", "a whole output", answer.tools.names, kept.tool, (value) => set("tool", value)));
    }
    draw(answer);
  }

  function draw(answer) {
    const segments = h("section", { class: "pane", "aria-label": "What each part is" }, h("h3", {}, "What each part is"),
      h("pre", { class: "segments", tabindex: "0" }, answer.segments.map((segment) => h("span", { class: `segment part-${segment.part}`, title: segment.part }, segment.text))),
      h("ul", { class: "legend" }, ["content", "reasoning", "call", "markup"].filter((part) => answer.segments.some((segment) => segment.part === part)).map((part) => h("li", {}, h("span", { class: `segment part-${part}` }, part)))));
    const cards = answer.calls.map((call) => {
      const runs = call.outcome === "clean" || call.outcome === "mended";
      const after = runs ? call.arguments ?? (call.calls ?? []).map((one) => one.arguments).join("\n") : null;
      const diff = sideBySide(call.raw, after, call.repairs);
      return h("article", { class: "card" },
        h("header", {}, outcome(call.outcome), h("h2", {}, call.name || "a call"), call.dialect && h("span", { class: "muted" }, `${call.dialect}, ${call.source}`)),
        diff, repairList(call.repairs, known.repairs, diff),
        words("What is wrong", call.message), words("What the model would be told", call.feedback));
    });
    const spoken = [["Content", answer.content], ["Reasoning", answer.reasoning]].filter(([, text]) => text.trim());
    replace(result,
      kept.tool ? null : segments,
      cards.length ? cards : h("p", { class: "nothing" }, kept.text.trim() ? "No call is in this text." : "Write something to see what becomes of it."),
      spoken.length ? h("dl", { class: "facts" }, spoken.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text.trim())])) : null,
      answer.notes.map((note) => h("p", { class: "notice" }, note)));
  }

  await run();
  return { keys: { "/": () => text.focus() } };
}
