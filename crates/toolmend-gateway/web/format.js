// Formats numbers, times and outcomes for display.

import { h } from "./dom.js";

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export const formatNumber = (value) => numbers.format(value);

export function formatPercent(part, whole) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  return `${share > 0 && share < 0.1 ? "<0.1" : share > 99.9 && share < 100 ? ">99.9" : numbers.format(share)} %`;
}

export function formatBytes(value) {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${numbers.format(value / 1000)} kB`;
  return value < 1e9 ? `${numbers.format(value / 1e6)} MB` : `${numbers.format(value / 1e9)} GB`;
}

export function formatDuration(micros) {
  if (micros < 1000) return `${micros} µs`;
  return micros < 1e6 ? `${numbers.format(micros / 1000)} ms` : `${numbers.format(micros / 1e6)} s`;
}

export function timeElement(millis) {
  const date = new Date(millis);
  const today = new Date().toDateString() === date.toDateString();
  return h("time", { datetime: date.toISOString(), title: full.format(date) }, today ? clock.format(date) : `${day.format(date)}, ${minute.format(date)}`);
}

export const formatTimestamp = (millis) => full.format(new Date(millis));

/** Returns the axis label of one bucket of a chart. */
export function formatBucket(seconds, step) {
  const date = new Date(seconds * 1000);
  return step >= 86400 ? day.format(date) : step >= 21600 ? `${day.format(date)}, ${minute.format(date)}` : minute.format(date);
}

const OUTCOMES = {
  clean: "This call was valid as received.",
  mended: "This call was not valid as received. It was repaired, then parsed and validated again before it was sent.",
  truncated: "This call was truncated. An unfinished call never runs.",
  rejected: "This call could not be repaired without guessing. The model gets feedback that says why.",
};

export function outcomeBadge(name) {
  return h("span", { class: `outcome ${name}`, title: OUTCOMES[name] ?? "" }, name);
}

export const describeOutcome = (name) => OUTCOMES[name] ?? "";
