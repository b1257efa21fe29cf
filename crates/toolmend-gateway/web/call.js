// One call: the arguments before and after, an explanation of every repair, and the feedback for the model.

import { get, loadTables, remove } from "./api.js";
import { highlightOnHover, sideBySide } from "./diff.js";
import { copyButton, h } from "./dom.js";
import { describeOutcome, formatBytes, formatDuration, formatTimestamp, outcomeBadge } from "./format.js";

/** Lists the repairs of a call, each with its summary and an example. */
export function repairList(repairs, repairTable, diff) {
  if (!repairs.length) return null;
  const items = repairs.map((repair, index) => {
    const row = repairTable.find((row) => row.kind === repair.kind) ?? {};
    const item = h("li", { tabindex: "0" },
      h("div", { class: "repair-head" }, h("code", {}, repair.kind), row.tier && h("span", { class: `tier ${row.tier}`, title: TIERS[row.tier] }, row.tier), repair.path && h("code", { class: "path" }, repair.path)),
      h("p", {}, row.summary ? `${row.summary[0].toUpperCase()}${row.summary.slice(1)}.` : ""),
      row.before && h("p", { class: "example" }, "For example ", h("code", {}, row.before), " → ", h("code", {}, row.after || "(nothing)")));
    highlightOnHover(diff, item, index);
    return item;
  });
  return h("section", { class: "repairs" }, h("h3", {}, repairs.length === 1 ? "One repair" : `${repairs.length} repairs`), h("ol", {}, items));
}

const TIERS = {
  lossless: "Only one reading exists.",
  guided: "The schema or the surrounding structure decides the reading.",
  assumed: "Plausible and usually right, but another reading exists.",
};

/** A titled section of quoted text, or nothing if there is no text. */
export function quotedSection(title, text) {
  return text ? h("section", {}, h("h3", {}, title), h("p", { class: "quoted" }, text)) : null;
}

export async function callDetails(id, { change, onclose, ondelete }) {
  const [entry, { repairs: repairTable }] = await Promise.all([get(`entries/${id}`), loadTables()]);
  const stored = entry.before !== undefined;
  const diff = stored ? sideBySide(entry.before, entry.after ?? null, entry.repairs) : h("p", { class: "notice" }, entry.values === "none" ? "The values of calls are not stored (journal values: none)." : "The model wrote no arguments.");
  const facts = [
    ["Model", entry.model],
    ["Tool", entry.called ? `${entry.tool} (the model wrote ${entry.called})` : entry.tool],
    ["Call id", entry.call_id],
    ["Server", `${entry.upstream}, ${entry.surface}`],
    ["Found", entry.dialect ? `in the text, dialect ${entry.dialect}` : "in the server's tool calls"],
    ["Length", `${formatBytes(entry.before_bytes)}${entry.after_bytes ? ` → ${formatBytes(entry.after_bytes)}` : ""}`],
    ["Decided after", formatDuration(entry.micros)],
    ["Finish reason", entry.finish],
    ["Reason", entry.reason],
    ["Truncated at", entry.cut],
  ];
  const actions = h("div", { class: "actions" },
    h("code", { class: "id" }, entry.id), copyButton(entry.id, "Copy the id of this entry"),
    change && h("button", { type: "button", class: "danger", onclick: async () => { await remove(`entries/${id}`); ondelete(); } }, "Delete"));
  return h("article", { class: "call" },
    h("header", {},
      h("div", {}, outcomeBadge(entry.outcome), h("h2", {}, entry.tool), h("p", { class: "muted" }, formatTimestamp(entry.millis))),
      h("button", { type: "button", class: "quiet close", "aria-label": "Close this call", onclick: onclose }, "✕")),
    h("p", { class: "meaning" }, describeOutcome(entry.outcome)),
    entry.shortened && h("p", { class: "notice" }, "The text was too long to store in full. Only its beginning is shown."),
    entry.values === "masked" && h("p", { class: "notice" }, "Only the shape of values is stored (journal values: masked)."),
    diff,
    repairList(entry.repairs, repairTable, diff),
    quotedSection("What was wrong", entry.message),
    quotedSection("Feedback for the model", entry.feedback),
    h("dl", { class: "facts" }, facts.filter(([, text]) => text).map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])),
    entry.schema && h("details", {}, h("summary", {}, "Schema of the tool"), h("pre", { tabindex: "0" }, formatJson(entry.schema))),
    actions);
}

function formatJson(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
