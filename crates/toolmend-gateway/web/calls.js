// The live list of calls that were not clean, with the details of one call next to it.

import { get } from "./api.js";
import { callDetails } from "./call.js";
import { sparkline } from "./chart.js";
import { empty, h, replace, segmented, select } from "./dom.js";
import { formatNumber, formatPercent, outcomeBadge, timeElement } from "./format.js";

const OUTCOMES = [["", "All"], ["mended", "Mended"], ["truncated", "Truncated"], ["rejected", "Rejected"]];
const REASONS = {
  ambiguous: "two readings are equally good",
  syntax: "cannot be read as JSON",
  schema: "does not fit the schema",
  unknown_tool: "no declared tool has this name",
  limit: "a limit was exceeded",
  policy: "the policy forbids the repair",
};
const filter = { outcome: "", model: "", tool: "", kind: "" };

const tryCommand = (origin) => `curl -s ${origin}/v1/chat/completions -d '{"model": "demo", "messages": [{"role": "user", "content": "How is the weather in Oslo?"}], "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]}'`;

export async function showCalls({ main, id, state, onentries, navigate }) {
  if (!state.journal) {
    replace(main, empty("The journal is off", "The gateway repairs calls but does not record them.", h("p", {}, "To see calls here, start the gateway without ", h("code", {}, "--journal off"), ".")));
    return {};
  }
  const [names, chart] = await Promise.all([get("names"), get("chart", { by: "outcome", range: "24h" })]);
  const stats = h("div", { class: "stats" });
  const rows = h("ol", { class: "rows", "aria-label": "Calls" });
  const more = h("button", { type: "button", class: "more", onclick: () => load(false) }, "Older calls");
  const side = h("div", { class: "side" });
  const bar = h("div", { class: "bar", role: "search", "aria-label": "Filter calls" });
  const view = h("div", { class: "calls" },
    h("h1", { class: "sr" }, "Calls"), stats,
    bar,
    h("div", { class: "split" }, h("div", { class: "list" }, rows, more), side));
  replace(main, view);
  const drawBar = ({ models, tools, kinds }) => replace(bar,
    segmented("Outcome", OUTCOMES, filter.outcome, (value) => setFilter("outcome", value)),
    select("Model", "all models", models, filter.model, (value) => setFilter("model", value)),
    select("Tool", "all tools", tools, filter.tool, (value) => setFilter("tool", value)),
    select("Repair", "all repairs", kinds, filter.kind, (value) => setFilter("kind", value)));
  drawBar(names);
  const seen = new Map();
  let next = null;
  let chosen = null;
  let loading = 0;

  function setFilter(name, value) {
    filter[name] = value;
    load(true);
  }

  const matchesFilter = (entry) => (!filter.outcome || entry.outcome === filter.outcome) && (!filter.model || entry.model === filter.model) && (!filter.tool || entry.tool === filter.tool) && (!filter.kind || entry.kinds.includes(filter.kind));

  function callRow(entry) {
    const why = entry.reason ? REASONS[entry.reason] ?? entry.reason : entry.kinds.join(", ") || "truncated";
    return h("li", { "data-id": entry.id },
      h("a", { href: `#/calls/${entry.id}`, "aria-current": entry.id === chosen ? "true" : null },
        outcomeBadge(entry.outcome), h("strong", {}, entry.tool), h("span", { class: "model" }, entry.model),
        h("span", { class: "why" }, why), timeElement(entry.millis)));
  }

  async function load(fresh) {
    const request = ++loading;
    const page = await get("entries", { ...filter, before: fresh ? "" : next });
    if (request !== loading) return;
    if (fresh) { seen.clear(); replace(rows); }
    for (const entry of page.entries) {
      if (seen.has(entry.id)) continue;
      seen.set(entry.id, entry);
      rows.append(callRow(entry));
    }
    next = page.next;
    more.hidden = !next;
    showEmptyState();
  }

  function showEmptyState() {
    view.querySelector(".list .empty")?.remove();
    if (seen.size) return;
    const filtered = Object.values(filter).some(Boolean);
    rows.before(filtered ? empty("No matching calls", "Remove a filter to see more calls.") : empty("No repairs yet", "There were no calls so far, or all of them were valid. Repaired and refused calls appear here immediately.", h("p", {}, "With the demo server, this command makes one:"), h("pre", { tabindex: "0" }, tryCommand(location.origin))));
  }

  function drawStats(data) {
    const line = (name) => data.lines.find((line) => line.name === name) ?? { total: 0, counts: data.calls.map(() => 0) };
    const all = data.calls.reduce((sum, value) => sum + value, 0);
    const card = (name, title, value, about, counts) => h("div", { class: `stat ${name}` }, h("h2", {}, title), h("p", { class: "value" }, value), h("p", { class: "about" }, about), sparkline(counts, name));
    const refused = { total: line("truncated").total + line("rejected").total, counts: line("truncated").counts.map((value, at) => value + line("rejected").counts[at]) };
    replace(stats,
      card("all", "Calls", formatNumber(all), "in the last 24 hours", data.calls),
      card("clean", "Clean", formatPercent(line("clean").total, all), `${formatNumber(line("clean").total)} untouched`, line("clean").counts),
      card("mended", "Mended", formatPercent(line("mended").total, all), `${formatNumber(line("mended").total)} repaired`, line("mended").counts),
      card("rejected", "Refused", formatPercent(refused.total, all), `${formatNumber(refused.total)} did not run`, refused.counts));
  }
  drawStats(chart);

  async function openCall(id) {
    chosen = id;
    view.classList.toggle("open", Boolean(id));
    rows.querySelectorAll("a").forEach((link) => {
      if (link.parentElement.dataset.id === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    if (!id) {
      replace(side, h("div", { class: "hint" }, h("p", {}, "Select a call to see what changed and why.")));
      return;
    }
    try {
      const shown = await callDetails(id, { change: state.change, onclose: () => navigate("#/calls"), ondelete: () => { rows.querySelector(`[data-id="${id}"]`)?.remove(); seen.delete(id); showEmptyState(); navigate("#/calls"); } });
      if (chosen === id) replace(side, shown);
    } catch (error) {
      if (chosen === id) replace(side, empty("This call cannot be shown", error.message));
    }
  }

  let drawn = 0;
  onentries((entries) => {
    for (const entry of entries) {
      if (seen.has(entry.id) || !matchesFilter(entry)) continue;
      seen.set(entry.id, entry);
      const line = callRow(entry);
      line.classList.add("fresh");
      const after = [...rows.children].find((other) => other.dataset.id < entry.id);
      rows.insertBefore(line, after ?? null);
    }
    showEmptyState();
    if (Date.now() - drawn > 2000) {
      drawn = Date.now();
      get("chart", { by: "outcome", range: "24h" }).then(drawStats, () => {});
      // Adds new names to the filters, unless the user is in the middle of choosing one.
      if (!bar.contains(document.activeElement)) get("names").then(drawBar, () => {});
    }
  });

  await load(true);
  await openCall(id);

  function moveSelection(by) {
    const ids = [...rows.children].map((line) => line.dataset.id);
    const at = Math.min(Math.max(ids.indexOf(chosen) + by, 0), ids.length - 1);
    // The address changes asynchronously, and the next key press may come first.
    if (ids[at]) { chosen = ids[at]; navigate(`#/calls/${ids[at]}`); rows.children[at].scrollIntoView({ block: "nearest" }); }
  }

  return {
    open: openCall,
    keys: { j: () => moveSelection(1), k: () => moveSelection(-1), "/": () => view.querySelector(".bar button, .bar select").focus(), Escape: () => navigate("#/calls") },
  };
}
