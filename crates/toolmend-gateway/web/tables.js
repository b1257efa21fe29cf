// The tables of dialects and repairs.

import { loadTables } from "./api.js";
import { h, replace } from "./dom.js";

export async function showDialects({ main }) {
  const { dialects: rows, repairs } = await loadTables();
  const count = h("p", { class: "muted", role: "status" });
  const list = h("div", { class: "dialects" });
  const search = h("input", { type: "search", placeholder: "Model, name or marker", "aria-label": "Search dialects", oninput: () => draw(search.value) });
  replace(main, h("div", {},
    h("div", { class: "title" }, h("h1", {}, "Dialects"), search),
    h("p", { class: "lead" }, "Every form of a call that toolmend reads. It recognises the dialect from the output itself, and one message can use several."),
    count, list,
    h("h2", { class: "later" }, "Repairs"),
    h("p", { class: "lead" }, "Every change that toolmend can make has a name. If it is not sure, it refuses the call."),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Repairs" }, h("table", { class: "repair-table" },
      h("thead", {}, h("tr", {}, ["Kind", "Tier", "What it does", "Before", "After"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, repairs.map((row) => h("tr", {}, h("td", {}, h("code", {}, row.kind)), h("td", {}, h("span", { class: `tier ${row.tier}` }, row.tier)), h("td", {}, row.summary), h("td", {}, row.before && h("code", {}, row.before)), h("td", {}, row.after && h("code", {}, row.after)))))))));

  function draw(query) {
    const wanted = query.trim().toLowerCase();
    const shown = rows.filter((row) => [row.name, row.families, ...row.markers].join(" ").toLowerCase().includes(wanted));
    count.textContent = wanted ? `${shown.length} of ${rows.length}` : `${rows.length} dialects`;
    replace(list, shown.map((row) => h("details", { class: "dialect" },
      h("summary", {}, h("code", {}, row.name), h("span", {}, row.families), !row.on_by_default && h("span", { class: "tier assumed" }, "off by default")),
      h("dl", { class: "facts" }, row.markers.length ? [h("dt", {}, "Markers"), h("dd", {}, row.markers.map((marker) => [h("code", {}, marker), " "]))] : null, h("dt", {}, "Reasoning"), h("dd", {}, row.reasoning), h("dt", {}, "Found"), h("dd", {}, row.source)),
      row.example && h("pre", { tabindex: "0" }, row.example))));
  }
  draw("");
  return { keys: { "/": () => search.focus() } };
}
