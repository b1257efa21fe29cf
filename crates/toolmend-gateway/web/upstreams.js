// The upstream servers, the journal, access, and the configuration.

import { get, post, remove } from "./api.js";
import { h, replace } from "./dom.js";
import { formatBytes, formatDuration, formatNumber } from "./format.js";

/** A form that asks for the admin key. */
export function loginForm(onopen) {
  const problem = h("p", { class: "problem", role: "alert" });
  const key = h("input", { type: "password", id: "key", autocomplete: "current-password", required: true });
  return h("form", { class: "login", onsubmit: async (event) => {
    event.preventDefault();
    try { await post("session", { key: key.value }); onopen(); } catch (error) { problem.textContent = error.message; key.select(); }
  } }, h("label", { for: "key" }, "Admin key"), h("div", { class: "row" }, key, h("button", { type: "submit", class: "primary" }, "Sign in")), problem);
}

export async function showServers({ main, state, reload }) {
  const [found, fresh] = await Promise.all([get("upstreams"), get("state")]);
  const { journal } = fresh;
  replace(main, h("div", { class: "servers" },
    h("div", { class: "title" }, h("h1", {}, "Servers")),
    h("div", { class: "cards" }, found.upstreams.map((server) => h("article", { class: "card" },
      h("header", {}, h("span", { class: `light ${server.reachable ? "up" : "down"}`, "aria-hidden": "true" }), h("h2", {}, server.url)),
      h("dl", { class: "facts" }, [
        ["State", server.reachable ? `reachable in ${formatDuration(server.micros)}` : "unreachable"],
        ["Models", server.models.length ? server.models.join(", ") : "all models"],
        ["Key", server.has_key ? "set, never shown" : "the client's own"],
      ].map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])))),
      h("article", { class: "card" }, h("header", {}, h("h2", {}, "Journal")), journal ? h("dl", { class: "facts" }, [
        ["Location", journal.place],
        ["Contents", journal.held ? `${formatNumber(journal.held.entries)} calls, about ${formatBytes(journal.held.bytes)}` : "not available"],
        ["Retention", `${formatNumber(journal.days)} days, at most ${formatNumber(journal.megabytes)} MB`],
        ["Values", journal.values],
        ["Dropped entries", formatNumber(journal.dropped)],
      ].map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])) : h("p", {}, "off"),
      state.change && journal ? clearJournalButton(reload) : null),
      h("article", { class: "card" }, h("header", {}, h("h2", {}, "Access")), accessStatus(state, reload))),
    h("h2", {}, "Configuration"),
    h("pre", { class: "config", tabindex: "0" }, found.config)));
  return {};
}

function accessStatus(state, reload) {
  if (state.change) return h("div", {}, h("p", {}, "You are signed in and can delete entries."), h("button", { type: "button", onclick: async () => { await remove("session"); reload(); } }, "Sign out"));
  if (state.has_key) return h("div", {}, h("p", {}, "You can view entries. Sign in to delete them."), loginForm(reload));
  return h("p", {}, "You can view entries from this machine. Set ", h("code", {}, "--admin-key"), " to allow more.");
}

function clearJournalButton(reload) {
  const confirmation = h("dialog", { "aria-label": "Clear the journal" }, h("p", {}, "Delete all calls and counters in the journal? This cannot be undone."),
    h("div", { class: "row" }, h("button", { type: "button", onclick: () => confirmation.close() }, "Cancel"), h("button", { type: "button", class: "danger", onclick: async () => { await remove("entries"); confirmation.close(); reload(); } }, "Delete everything")));
  return h("div", { class: "actions" }, h("button", { type: "button", class: "danger", onclick: () => confirmation.showModal() }, "Clear the journal"), confirmation);
}
