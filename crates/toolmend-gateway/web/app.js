// The frame: which view is shown, keys, dark and light, and news from the gateway.

import { get, Refused } from "./api.js";
import { calls } from "./calls.js";
import { empty, h, replace } from "./dom.js";
import { playground } from "./playground.js";
import { rates } from "./rates.js";
import { dialects } from "./tables.js";
import { login, upstreams } from "./upstreams.js";

const VIEWS = [["calls", "Calls", calls], ["rates", "Rates", rates], ["playground", "Playground", playground], ["dialects", "Dialects", dialects], ["servers", "Servers", upstreams]];

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const live = document.getElementById("live");
const keys = document.getElementById("keys");

let state = null;
let shown = { name: "", view: {} };
let listeners = [];
let source = null;

const go = (hash) => { location.hash = hash; };

function place() {
  const [, name = "calls", id = null] = location.hash.split("/");
  return VIEWS.some(([known]) => known === name) ? [name, id] : ["calls", null];
}

async function route() {
  const [name, id] = place();
  replace(nav, VIEWS.map(([view, title]) => h("a", { href: `#/${view}`, "aria-current": view === name ? "page" : null }, title)));
  document.title = `${VIEWS.find(([view]) => view === name)[1]} · toolmend`;
  try {
    state ??= await get("state");
    listen();
    if (shown.name === name && shown.view.open) {
      await shown.view.open(id);
      return;
    }
    listeners = [];
    shown = { name, view: {} };
    const draw = VIEWS.find(([view]) => view === name)[2];
    const view = await draw({ main, id, state, go, reload, onentries: (listener) => listeners.push(listener) });
    if (shown.name === name) shown.view = view;
  } catch (error) {
    shown = { name: "", view: {} };
    trouble(error);
  }
}

function trouble(error) {
  if (error instanceof Refused && error.status === 401) {
    replace(main, h("div", { class: "gate" }, h("h1", {}, "This page needs the admin key"), h("p", {}, "The gateway is open to other machines, so what it saw is not open to everybody."), login(reload)));
  } else if (error instanceof Refused && error.status === 403) {
    replace(main, h("div", { class: "gate" }, h("h1", {}, "This page is closed"), h("p", {}, error.message), h("pre", { tabindex: "0" }, "TOOLMEND_ADMIN_KEY=… toolmend serve --listen 0.0.0.0:4242")));
  } else {
    replace(main, empty("The gateway does not answer", error.message, h("button", { type: "button", onclick: reload }, "Try again")));
  }
}

function reload() {
  state = null;
  shown = { name: "", view: {} };
  source?.close();
  source = null;
  route();
}

/** New entries, as long as the page is open. The browser connects again by itself. */
function listen() {
  if (source || !state.journal) {
    if (!state.journal) replace(live, "journal off");
    return;
  }
  source = new EventSource("/toolmend/api/live");
  source.addEventListener("open", () => { live.className = "live on"; live.textContent = "live"; });
  source.addEventListener("error", () => { live.className = "live"; live.textContent = "connecting…"; });
  source.addEventListener("entries", (event) => {
    const entries = JSON.parse(event.data);
    if (entries.length) listeners.forEach((listener) => listener(entries));
  });
}

function theme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("toolmend-theme", document.documentElement.dataset.theme);
}

const remembered = localStorage.getItem("toolmend-theme");
if (remembered) document.documentElement.dataset.theme = remembered;

document.getElementById("theme").addEventListener("click", theme);
document.getElementById("help").addEventListener("click", () => keys.showModal());
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey || typing || document.querySelector("dialog[open]")) return;
  const number = Number(event.key);
  const own = shown.view.keys?.[event.key];
  if (own) own();
  else if (number >= 1 && number <= VIEWS.length) go(`#/${VIEWS[number - 1][0]}`);
  else if (event.key === "?") keys.showModal();
  else if (event.key === "t") theme();
  else return;
  event.preventDefault();
});
addEventListener("hashchange", route);
route();
