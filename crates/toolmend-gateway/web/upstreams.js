// The servers behind the gateway, the journal, and how everything is set up.

import { get, post, remove } from "./api.js";
import { h, replace } from "./dom.js";
import { bytes, duration, number } from "./words.js";

/** Asks for the key. */
export function login(onopen) {
  const problem = h("p", { class: "problem", role: "alert" });
  const key = h("input", { type: "password", id: "key", autocomplete: "current-password", required: true });
  return h("form", { class: "login", onsubmit: async (event) => {
    event.preventDefault();
    try { await post("session", { key: key.value }); onopen(); } catch (error) { problem.textContent = error.message; key.select(); }
  } }, h("label", { for: "key" }, "Admin key"), h("div", { class: "row" }, key, h("button", { type: "submit", class: "primary" }, "Open")), problem);
}

export async function upstreams({ main, state, reload }) {
  const [found, fresh] = await Promise.all([get("upstreams"), get("state")]);
  const { journal } = fresh;
  replace(main, h("div", { class: "servers" },
    h("div", { class: "title" }, h("h1", {}, "Servers")),
    h("div", { class: "cards" }, found.upstreams.map((server) => h("article", { class: "card" },
      h("header", {}, h("span", { class: `light ${server.reachable ? "up" : "down"}`, "aria-hidden": "true" }), h("h2", {}, server.url)),
      h("dl", { class: "facts" }, [
        ["State", server.reachable ? `reachable in ${duration(server.micros)}` : "cannot be reached"],
        ["Models", server.models.length ? server.models.join(", ") : "every model"],
        ["Key", server.has_key ? "set, never shown" : "the client's own"],
      ].map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])))),
      h("article", { class: "card" }, h("header", {}, h("h2", {}, "Journal")), journal ? h("dl", { class: "facts" }, [
        ["Place", journal.place],
        ["Holds", journal.held ? `${number(journal.held.entries)} calls, about ${bytes(journal.held.bytes)}` : "it does not answer"],
        ["Keeps", `${number(journal.days)} days, at most ${number(journal.megabytes)} MB`],
        ["Values", journal.values],
        ["Dropped", number(journal.dropped)],
      ].map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])) : h("p", {}, "off"),
      state.change && journal ? clear(reload) : null),
      h("article", { class: "card" }, h("header", {}, h("h2", {}, "Access")), access(state, reload))),
    h("h2", {}, "Configuration"),
    h("pre", { class: "config", tabindex: "0" }, found.config)));
  return {};
}

function access(state, reload) {
  if (state.change) return h("div", {}, h("p", {}, "You have the key: entries can be deleted."), h("button", { type: "button", onclick: async () => { await remove("session"); reload(); } }, "Leave"));
  if (state.has_key) return h("div", {}, h("p", {}, "Looking only. With the key, entries can be deleted."), login(reload));
  return h("p", {}, "Looking only, from this machine. ", h("code", {}, "--admin-key"), " allows more.");
}

function clear(reload) {
  const sure = h("dialog", { "aria-label": "Clear the journal" }, h("p", {}, "Delete every call and every count of the journal? This cannot be taken back."),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => sure.close() }, "Keep"), h("button", { type: "button", class: "danger", onclick: async () => { await remove("entries"); sure.close(); reload(); } }, "Delete everything")));
  return h("div", { class: "actions" }, h("button", { type: "button", class: "danger", onclick: () => sure.showModal() }, "Clear the journal"), sure);
}
