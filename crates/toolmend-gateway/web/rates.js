// Rates over time, and who makes the most trouble.

import { get } from "./api.js";
import { chart } from "./chart.js";
import { copyButton, empty, h, replace, segmented, select } from "./dom.js";
import { number, percent } from "./words.js";

const RANGES = [["1h", "Hour"], ["24h", "Day"], ["7d", "Week"], ["30d", "Month"]];
const chosen = { range: "24h", model: "", tool: "", share: "" };

export async function rates({ main, state }) {
  if (!state.journal) {
    replace(main, empty("The journal is off", "Without it nothing is counted for charts; the metrics of Prometheus are at /metrics."));
    return {};
  }
  const names = await get("names");
  const charts = h("div", { class: "charts", "aria-live": "off", "aria-busy": "true" });
  const worst = h("section", { class: "worst" });
  const set = (name) => (value) => { chosen[name] = value; draw(); };
  replace(main, h("div", { class: "rates" },
    h("div", { class: "title" }, h("h1", {}, "Rates")),
    h("div", { class: "bar" },
      segmented("Time", RANGES, chosen.range, set("range")),
      segmented("Unit", [["", "Calls"], ["share", "Share of calls"]], chosen.share, set("share")),
      select("Model", "every model", names.models, chosen.model, set("model")),
      select("Tool", "every tool", names.tools, chosen.tool, set("tool"))),
    charts, worst));
  let turn = 0;

  async function draw() {
    const mine = ++turn;
    charts.ariaBusy = "true";
    const { range, model, tool } = chosen;
    const asked = ["outcome", "kind", "model", "tool"].map((by) => get("chart", { by, range, model, tool }));
    const [outcome, kind, byModel, byTool] = await Promise.all(asked);
    const pairs = await get("worst", { range });
    if (mine !== turn) return;
    const share = chosen.share === "share";
    replace(charts,
      chart("Outcomes", outcome, { share, about: "what became of every call" }),
      chart("Repairs", kind, { share, about: "calls that needed each kind" }),
      chart("Models", byModel, { share, about: "calls that were not clean, by model" }),
      chart("Tools", byTool, { share, about: "calls that were not clean, by tool" }));
    replace(worst, h("h2", {}, "What hurts most"), table(pairs));
    charts.ariaBusy = "false";
  }
  await draw();
  return {};
}

function table(pairs) {
  if (!pairs.length) return h("p", { class: "nothing" }, "Nothing hurts: every call in this time was clean.");
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Models and tools that make the most trouble" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Model", "Tool", "Calls", "Mended", "Refused", "Mostly", "What would help"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, pairs.map((pair) => h("tr", {},
      h("td", {}, pair.model), h("td", {}, h("strong", {}, pair.tool)), h("td", { class: "number" }, number(pair.calls)),
      h("td", { class: "number" }, share(pair.mended, pair.calls, "mended")), h("td", { class: "number" }, share(pair.failed, pair.calls, "rejected")),
      h("td", {}, pair.kinds.map(([kind, count]) => h("span", { class: "kind" }, kind, " ", h("b", {}, number(count))))),
      h("td", { class: "help" }, pair.hint ? [h("q", {}, pair.hint), copyButton(pair.hint, `Copy the sentence for ${pair.tool}`)] : "–"))))),
    h("p", { class: "muted small" }, "A sentence helps in the description of the tool, or under ", h("code", {}, "x-toolmend.contract"), " in its schema; with ", h("code", {}, "--contract-hints"), " the gateway adds those of well-known tools by itself."));
}

function share(part, whole, name) {
  return [h("meter", { class: name, min: 0, max: 1, value: whole ? part / whole : 0, "aria-label": `${name}: ${percent(part, whole)}` }), ` ${percent(part, whole)}`];
}
