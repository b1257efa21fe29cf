// Numbers, times and names as people read them.

import { h } from "./dom.js";

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export const number = (value) => numbers.format(value);

export function percent(part, whole) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  return `${share > 0 && share < 0.1 ? "<0.1" : share > 99.9 && share < 100 ? ">99.9" : numbers.format(share)} %`;
}

export function bytes(value) {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${numbers.format(value / 1000)} kB`;
  return value < 1e9 ? `${numbers.format(value / 1e6)} MB` : `${numbers.format(value / 1e9)} GB`;
}

export function duration(micros) {
  if (micros < 1000) return `${micros} µs`;
  return micros < 1e6 ? `${numbers.format(micros / 1000)} ms` : `${numbers.format(micros / 1e6)} s`;
}

export function time(millis) {
  const date = new Date(millis);
  const today = new Date().toDateString() === date.toDateString();
  return h("time", { datetime: date.toISOString(), title: full.format(date) }, today ? clock.format(date) : `${day.format(date)}, ${minute.format(date)}`);
}

export const moment = (millis) => full.format(new Date(millis));

/** The label of a bucket of a chart. */
export function bucket(seconds, step) {
  const date = new Date(seconds * 1000);
  return step >= 86400 ? day.format(date) : step >= 21600 ? `${day.format(date)}, ${minute.format(date)}` : minute.format(date);
}

const MEANINGS = {
  clean: "It was valid as it came.",
  mended: "It was not valid as it came, and it is now: parsed and validated again before it was sent.",
  truncated: "It was cut off before its end. A half-written call is never run.",
  rejected: "It could not be mended without guessing. The model is told why.",
};

export function outcome(name) {
  return h("span", { class: `outcome ${name}`, title: MEANINGS[name] ?? "" }, name);
}

export const meaning = (name) => MEANINGS[name] ?? "";
