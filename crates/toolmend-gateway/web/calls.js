// The list of calls that were not clean, live, with one of them beside it.

import { get } from "./api.js";
import { call } from "./call.js";
import { spark } from "./chart.js";
import { empty, h, replace, segmented, select } from "./dom.js";
import { number, outcome, percent, time } from "./words.js";

const OUTCOMES = [["", "All"], ["mended", "Mended"], ["truncated", "Cut off"], ["rejected", "Rejected"]];
const REASONS = {
  ambiguous: "two readings are equally good",
  syntax: "no reading as JSON was found",
  schema: "it does not fit the schema",
  unknown_tool: "no declared tool has this name",
  limit: "a limit was passed",
  policy: "the policy forbids the repair",
};
const filter = { outcome: "", model: "", tool: "", kind: "" };

const TRY = (origin) => `curl -s ${origin}/v1/chat/completions -d '{"model": "demo", "messages": [{"role": "user", "content": "How is the weather in Oslo?"}], "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]}'`;

export async function calls({ main, id, state, onentries, go }) {
  if (!state.journal) {
    replace(main, empty("The journal is off", "Calls pass and are mended, but nothing is written down.", h("p", {}, "Start the gateway without ", h("code", {}, "--journal off"), " to see them here.")));
    return {};
  }
  const [names, chart] = await Promise.all([get("names"), get("chart", { by: "outcome", range: "24h" })]);
  const stats = h("div", { class: "stats" });
  const rows = h("ol", { class: "rows", "aria-label": "Calls" });
  const more = h("button", { type: "button", class: "more", onclick: () => load(false) }, "Older calls");
  const side = h("div", { class: "side" });
  const bar = h("div", { class: "bar", role: "search", "aria-label": "Which calls" });
  const view = h("div", { class: "calls" },
    h("h1", { class: "sr" }, "Calls"), stats,
    bar,
    h("div", { class: "split" }, h("div", { class: "list" }, rows, more), side));
  replace(main, view);
  const drawBar = ({ models, tools, kinds }) => replace(bar,
    segmented("Outcome", OUTCOMES, filter.outcome, (value) => set("outcome", value)),
    select("Model", "every model", models, filter.model, (value) => set("model", value)),
    select("Tool", "every tool", tools, filter.tool, (value) => set("tool", value)),
    select("Repair", "every repair", kinds, filter.kind, (value) => set("kind", value)));
  drawBar(names);
  const seen = new Map();
  let next = null;
  let chosen = null;
  let loading = 0;

  function set(name, value) {
    filter[name] = value;
    load(true);
  }

  const fits = (entry) => (!filter.outcome || entry.outcome === filter.outcome) && (!filter.model || entry.model === filter.model) && (!filter.tool || entry.tool === filter.tool) && (!filter.kind || entry.kinds.includes(filter.kind));

  function row(entry) {
    const why = entry.reason ? REASONS[entry.reason] ?? entry.reason : entry.kinds.join(", ") || "cut off before its end";
    return h("li", { "data-id": entry.id },
      h("a", { href: `#/calls/${entry.id}`, "aria-current": entry.id === chosen ? "true" : null },
        outcome(entry.outcome), h("strong", {}, entry.tool), h("span", { class: "model" }, entry.model),
        h("span", { class: "why" }, why), time(entry.millis)));
  }

  async function load(fresh) {
    const turn = ++loading;
    const page = await get("entries", { ...filter, before: fresh ? "" : next });
    if (turn !== loading) return;
    if (fresh) { seen.clear(); replace(rows); }
    for (const entry of page.entries) {
      if (seen.has(entry.id)) continue;
      seen.set(entry.id, entry);
      rows.append(row(entry));
    }
    next = page.next;
    more.hidden = !next;
    blank();
  }

  function blank() {
    view.querySelector(".list .empty")?.remove();
    if (seen.size) return;
    const filtered = Object.values(filter).some(Boolean);
    rows.before(filtered ? empty("No call fits", "Choose less to see more.") : empty("Nothing needed mending yet", "Every call so far was valid as it came, or there was none. Calls that are mended or refused show up here at once.", h("p", {}, "With the demo server this makes one:"), h("pre", { tabindex: "0" }, TRY(location.origin))));
  }

  function drawStats(data) {
    const line = (name) => data.lines.find((line) => line.name === name) ?? { total: 0, counts: data.calls.map(() => 0) };
    const all = data.calls.reduce((sum, value) => sum + value, 0);
    const card = (name, title, value, about, counts) => h("div", { class: `stat ${name}` }, h("h2", {}, title), h("p", { class: "value" }, value), h("p", { class: "about" }, about), spark(counts, name));
    const refused = { total: line("truncated").total + line("rejected").total, counts: line("truncated").counts.map((value, at) => value + line("rejected").counts[at]) };
    replace(stats,
      card("all", "Calls", number(all), "in the last 24 hours", data.calls),
      card("clean", "Clean", percent(line("clean").total, all), `${number(line("clean").total)} untouched`, line("clean").counts),
      card("mended", "Mended", percent(line("mended").total, all), `${number(line("mended").total)} saved`, line("mended").counts),
      card("rejected", "Refused", percent(refused.total, all), `${number(refused.total)} did not run`, refused.counts));
  }
  drawStats(chart);

  async function open(id) {
    chosen = id;
    view.classList.toggle("open", Boolean(id));
    rows.querySelectorAll("a").forEach((link) => {
      if (link.parentElement.dataset.id === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    if (!id) {
      replace(side, h("div", { class: "hint" }, h("p", {}, "Choose a call to see what was changed, and why.")));
      return;
    }
    try {
      const shown = await call(id, { change: state.change, onclose: () => go("#/calls"), ondelete: () => { rows.querySelector(`[data-id="${id}"]`)?.remove(); seen.delete(id); blank(); go("#/calls"); } });
      if (chosen === id) replace(side, shown);
    } catch (error) {
      if (chosen === id) replace(side, empty("This call cannot be shown", error.message));
    }
  }

  let drawn = 0;
  onentries((entries) => {
    for (const entry of entries) {
      if (seen.has(entry.id) || !fits(entry)) continue;
      seen.set(entry.id, entry);
      const line = row(entry);
      line.classList.add("fresh");
      const after = [...rows.children].find((other) => other.dataset.id < entry.id);
      rows.insertBefore(line, after ?? null);
    }
    blank();
    if (Date.now() - drawn > 2000) {
      drawn = Date.now();
      get("chart", { by: "outcome", range: "24h" }).then(drawStats, () => {});
      // Names that are new can be chosen at once, unless somebody is choosing.
      if (!bar.contains(document.activeElement)) get("names").then(drawBar, () => {});
    }
  });

  await load(true);
  await open(id);

  function step(by) {
    const ids = [...rows.children].map((line) => line.dataset.id);
    const at = Math.min(Math.max(ids.indexOf(chosen) + by, 0), ids.length - 1);
    // The address changes a moment later, and the next key may come before that.
    if (ids[at]) { chosen = ids[at]; go(`#/calls/${ids[at]}`); rows.children[at].scrollIntoView({ block: "nearest" }); }
  }

  return {
    open,
    keys: { j: () => step(1), k: () => step(-1), "/": () => view.querySelector(".bar button, .bar select").focus(), Escape: () => go("#/calls") },
  };
}
