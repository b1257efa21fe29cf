// Rates over time, and the models and tools that fail most.

import { get } from "./api.js";
import { chart } from "./chart.js";
import { copyButton, empty, h, replace, segmented, select } from "./dom.js";
import { formatNumber, formatPercent } from "./format.js";

const RANGES = [["1h", "Hour"], ["24h", "Day"], ["7d", "Week"], ["30d", "Month"]];
const chosen = { range: "24h", model: "", tool: "", share: "" };

export async function showRates({ main, state }) {
  if (!state.journal) {
    replace(main, empty("The journal is off", "Charts need the journal. Prometheus metrics are at /metrics."));
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
      select("Model", "all models", names.models, chosen.model, set("model")),
      select("Tool", "all tools", names.tools, chosen.tool, set("tool"))),
    charts, worst));
  let latest = 0;

  async function draw() {
    const request = ++latest;
    charts.ariaBusy = "true";
    const { range, model, tool } = chosen;
    const requests = ["outcome", "kind", "model", "tool"].map((by) => get("chart", { by, range, model, tool }));
    const [outcome, kind, byModel, byTool] = await Promise.all(requests);
    const pairs = await get("worst", { range });
    if (request !== latest) return;
    const share = chosen.share === "share";
    replace(charts,
      chart("Outcomes", outcome, { share, about: "of all calls" }),
      chart("Repairs", kind, { share, about: "calls by repair kind" }),
      chart("Models", byModel, { share, about: "calls that were not clean, by model" }),
      chart("Tools", byTool, { share, about: "calls that were not clean, by tool" }));
    replace(worst, h("h2", {}, "Most frequent failures"), failureTable(pairs));
    charts.ariaBusy = "false";
  }
  await draw();
  return {};
}

function failureTable(pairs) {
  if (!pairs.length) return h("p", { class: "nothing" }, "Every call in this period was clean.");
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Models and tools that fail most" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Model", "Tool", "Calls", "Mended", "Refused", "Repairs", "Suggestion"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, pairs.map((pair) => h("tr", {},
      h("td", {}, pair.model), h("td", {}, h("strong", {}, pair.tool)), h("td", { class: "number" }, formatNumber(pair.calls)),
      h("td", { class: "number" }, shareMeter(pair.mended, pair.calls, "mended")), h("td", { class: "number" }, shareMeter(pair.failed, pair.calls, "rejected")),
      h("td", {}, pair.kinds.map(([kind, count]) => h("span", { class: "kind" }, kind, " ", h("b", {}, formatNumber(count))))),
      h("td", { class: "help" }, pair.hint ? [h("q", {}, pair.hint), copyButton(pair.hint, `Copy the suggestion for ${pair.tool}`)] : "–"))))),
    h("p", { class: "muted small" }, "Add a suggestion to the description of the tool, or to ", h("code", {}, "x-toolmend.contract"), " in its schema. With ", h("code", {}, "--contract-hints"), ", the gateway adds the suggestions for well-known tools itself."));
}

function shareMeter(part, whole, name) {
  return [h("meter", { class: name, min: 0, max: 1, value: whole ? part / whole : 0, "aria-label": `${name}: ${formatPercent(part, whole)}` }), ` ${formatPercent(part, whole)}`];
}
