// The frame of the dashboard: routing, keyboard shortcuts, the colour theme, and live updates from the gateway.

import { ApiError, get } from "./api.js";
import { showCalls } from "./calls.js";
import { empty, h, replace } from "./dom.js";
import { showPlayground } from "./playground.js";
import { showRates } from "./rates.js";
import { showDialects } from "./tables.js";
import { loginForm, showServers } from "./upstreams.js";

const VIEWS = [["calls", "Calls", showCalls], ["rates", "Rates", showRates], ["playground", "Playground", showPlayground], ["dialects", "Dialects", showDialects], ["servers", "Servers", showServers]];

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const live = document.getElementById("live");
const keys = document.getElementById("keys");

let state = null;
let shown = { name: "", view: {} };
let listeners = [];
let source = null;

const navigate = (hash) => { location.hash = hash; };

/** Reads the name of the view and the id of a call from the address. */
function currentRoute() {
  const [, name = "calls", id = null] = location.hash.split("/");
  return VIEWS.some(([known]) => known === name) ? [name, id] : ["calls", null];
}

async function showRoute() {
  const [name, id] = currentRoute();
  replace(nav, VIEWS.map(([view, title]) => h("a", { href: `#/${view}`, "aria-current": view === name ? "page" : null }, title)));
  document.title = `${VIEWS.find(([view]) => view === name)[1]} · toolmend`;
  try {
    state ??= await get("state");
    connectLiveUpdates();
    if (shown.name === name && shown.view.open) {
      await shown.view.open(id);
      return;
    }
    listeners = [];
    shown = { name, view: {} };
    const draw = VIEWS.find(([view]) => view === name)[2];
    const view = await draw({ main, id, state, navigate, reload, onentries: (listener) => listeners.push(listener) });
    if (shown.name === name) shown.view = view;
  } catch (error) {
    shown = { name: "", view: {} };
    showError(error);
  }
}

function showError(error) {
  if (error instanceof ApiError && error.status === 401) {
    replace(main, h("div", { class: "gate" }, h("h1", {}, "Admin key required"), h("p", {}, "Other machines can reach this gateway, so viewing its calls requires the admin key."), loginForm(reload)));
  } else if (error instanceof ApiError && error.status === 403) {
    replace(main, h("div", { class: "gate" }, h("h1", {}, "The dashboard is closed"), h("p", {}, error.message), h("pre", { tabindex: "0" }, "TOOLMEND_ADMIN_KEY=… toolmend serve --listen 0.0.0.0:4242")));
  } else {
    replace(main, empty("The gateway does not respond", error.message, h("button", { type: "button", onclick: reload }, "Try again")));
  }
}

function reload() {
  state = null;
  shown = { name: "", view: {} };
  source?.close();
  source = null;
  showRoute();
}

/** Receives new entries while the dashboard is open. The browser reconnects by itself. */
function connectLiveUpdates() {
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

function toggleTheme() {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("toolmend-theme", document.documentElement.dataset.theme);
}

const savedTheme = localStorage.getItem("toolmend-theme");
if (savedTheme) document.documentElement.dataset.theme = savedTheme;

document.getElementById("theme").addEventListener("click", toggleTheme);
document.getElementById("help").addEventListener("click", () => keys.showModal());
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (event.ctrlKey || event.metaKey || event.altKey || typing || document.querySelector("dialog[open]")) return;
  const number = Number(event.key);
  const shortcut = shown.view.keys?.[event.key];
  if (shortcut) shortcut();
  else if (number >= 1 && number <= VIEWS.length) navigate(`#/${VIEWS[number - 1][0]}`);
  else if (event.key === "?") keys.showModal();
  else if (event.key === "t") toggleTheme();
  else return;
  event.preventDefault();
});
addEventListener("hashchange", showRoute);
showRoute();
