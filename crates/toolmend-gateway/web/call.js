// One call: before and after, every repair explained, and what the model was told.

import { get, remove, tables } from "./api.js";
import { link, sideBySide } from "./diff.js";
import { copyButton, h } from "./dom.js";
import { bytes, duration, meaning, moment, outcome } from "./words.js";

/** What each repair is and why it was made. */
export function repairList(repairs, known, diff) {
  if (!repairs.length) return null;
  const items = repairs.map((repair, number) => {
    const row = known.find((row) => row.kind === repair.kind) ?? {};
    const item = h("li", { tabindex: "0" },
      h("div", { class: "repair-head" }, h("code", {}, repair.kind), row.tier && h("span", { class: `tier ${row.tier}`, title: TIERS[row.tier] }, row.tier), repair.path && h("code", { class: "path" }, repair.path)),
      h("p", {}, row.summary ? `${row.summary[0].toUpperCase()}${row.summary.slice(1)}.` : ""),
      row.before && h("p", { class: "example" }, "For example ", h("code", {}, row.before), " → ", h("code", {}, row.after || "(nothing)")));
    link(diff, item, number);
    return item;
  });
  return h("section", { class: "repairs" }, h("h3", {}, repairs.length === 1 ? "One repair" : `${repairs.length} repairs`), h("ol", {}, items));
}

const TIERS = {
  lossless: "Only one reading exists.",
  guided: "The schema or the structure around it picks the reading.",
  assumed: "Plausible and usually right, but another reading exists.",
};

export function words(title, text) {
  return text ? h("section", { class: "words" }, h("h3", {}, title), h("p", { class: "said" }, text)) : null;
}

export async function call(id, { change, onclose, ondelete }) {
  const [entry, { repairs: known }] = await Promise.all([get(`entries/${id}`), tables()]);
  const stored = entry.before !== undefined;
  const diff = stored ? sideBySide(entry.before, entry.after ?? null, entry.repairs) : h("p", { class: "notice" }, entry.values === "none" ? "The values of calls are not stored (journal values: none)." : "Nothing was written.");
  const facts = [
    ["Model", entry.model],
    ["Tool", entry.called ? `${entry.tool} (written as ${entry.called})` : entry.tool],
    ["Server", `${entry.upstream}, ${entry.surface}`],
    ["Found", entry.dialect ? `in the text, as ${entry.dialect}` : "by the server, as a call"],
    ["Length", `${bytes(entry.before_bytes)}${entry.after_bytes ? ` → ${bytes(entry.after_bytes)}` : ""}`],
    ["Decided after", duration(entry.micros)],
    ["The turn ended with", entry.finish],
    ["Why", entry.reason],
    ["Cut at", entry.cut],
  ];
  const actions = h("div", { class: "actions" },
    h("code", { class: "id" }, entry.id), copyButton(entry.id, "Copy the id of this call"),
    change && h("button", { type: "button", class: "danger", onclick: async () => { await remove(`entries/${id}`); ondelete(); } }, "Delete"));
  return h("article", { class: "call" },
    h("header", {},
      h("div", {}, outcome(entry.outcome), h("h2", {}, entry.tool), h("p", { class: "muted" }, moment(entry.millis))),
      h("button", { type: "button", class: "quiet close", "aria-label": "Close this call", onclick: onclose }, "✕")),
    h("p", { class: "meaning" }, meaning(entry.outcome)),
    entry.shortened && h("p", { class: "notice" }, "The text was too long to be stored as a whole; its beginning is shown."),
    entry.values === "masked" && h("p", { class: "notice" }, "Only the shape of values is stored (journal values: masked)."),
    diff,
    repairList(entry.repairs, known, diff),
    words("What was wrong", entry.message),
    words("What the model was told", entry.feedback),
    h("dl", { class: "facts" }, facts.filter(([, text]) => text).map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])),
    entry.schema && h("details", {}, h("summary", {}, "The schema of the tool"), h("pre", { tabindex: "0" }, pretty(entry.schema))),
    actions);
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
