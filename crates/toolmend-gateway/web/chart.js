// Stacked column charts over time, as SVG.

import { h, replace, s } from "./dom.js";
import { formatBucket, formatNumber, formatPercent } from "./format.js";

const WIDTH = 720;
const HEIGHT = 200;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;

const OUTCOMES = ["clean", "mended", "truncated", "rejected"];

/** Outcomes have fixed colours; other series take colours in turn. */
function colourClass(name, index) {
  return OUTCOMES.includes(name) ? `fill-${name}` : name === "other" ? "fill-other" : `fill-${index % 7}`;
}

/** Returns a round axis maximum at or above the value, and the number of grid steps. */
function axisScale(value) {
  if (value <= 4) return [Math.max(1, value), Math.max(1, value)];
  const power = 10 ** Math.floor(Math.log10(value));
  const top = [1, 2, 4, 5, 8, 10].map((step) => step * power).find((candidate) => candidate >= value);
  return [top, 4];
}

/**
 * Draws a figure with a title, columns and a legend.
 * With `share`, each column shows a share of the calls in its bucket. Clicking a name in the legend hides its series.
 */
export function chart(title, data, { share = false, about = "" } = {}) {
  const hidden = new Set();
  const figure = h("figure", { class: "chart" });
  const draw = () => replace(figure, h("figcaption", {}, h("strong", {}, title), about && h("span", {}, about)), chartBody(data, share, hidden, draw, title));
  draw();
  return figure;
}

function chartBody(data, share, hidden, draw, title) {
  const total = data.lines.reduce((sum, line) => sum + line.total, 0);
  if (total === 0) return h("p", { class: "nothing" }, "No calls in this period.");
  const shown = data.lines.map((line, index) => ({ ...line, colour: colourClass(line.name, index) }));
  // Outcomes are always stacked in the same order, whichever is the largest.
  shown.sort((one, other) => OUTCOMES.indexOf(one.name) - OUTCOMES.indexOf(other.name));
  const visible = shown.filter((line) => !hidden.has(line.name));
  const part = (line, at) => (share ? (data.calls[at] ? (100 * line.counts[at]) / data.calls[at] : 0) : line.counts[at]);
  const heights = data.calls.map((_, at) => visible.reduce((sum, line) => sum + part(line, at), 0));
  const [top, steps] = share ? [Math.min(100, axisScale(Math.max(...heights, 1))[0]), 4] : axisScale(Math.max(...heights, 1));
  const room = HEIGHT - TOP - BOTTOM;
  const y = (value) => TOP + room - (room * Math.min(value, top)) / top;
  const column = (WIDTH - LEFT) / data.calls.length;
  const gap = Math.min(2, column * 0.2);
  const grid = [];
  for (let step = 0; step <= steps; step += 1) {
    const value = (top * step) / steps;
    grid.push(s("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }));
    grid.push(s("text", { class: "axis", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, share ? `${formatNumber(value)}%` : formatNumber(value)));
  }
  const every = Math.ceil(data.calls.length / 6);
  const columns = data.calls.map((calls, at) => {
    const x = LEFT + at * column;
    let base = 0;
    const bars = visible.map((line) => {
      const value = part(line, at);
      if (!value) return null;
      const bar = s("rect", { class: line.colour, x: x + gap / 2, width: Math.max(column - gap, 0.5), y: y(base + value), height: Math.max(y(base) - y(base + value), 0.5) });
      base += value;
      return bar;
    });
    const when = formatBucket(data.start + at * data.step, data.step);
    const counts = visible.filter((line) => line.counts[at]).map((line) => `${line.name}: ${formatNumber(line.counts[at])}${share ? ` (${formatPercent(line.counts[at], calls)})` : ""}`);
    const label = at % every === 0 && x < WIDTH - 50 ? s("text", { class: "axis", x, y: HEIGHT - 5 }, when) : null;
    return s("g", { class: "column" }, s("title", {}, [when, `${formatNumber(calls)} calls`, ...counts].join("\n")), s("rect", { class: "touch", x, width: column, y: TOP, height: room }), bars, label);
  });
  const totals = shown.map((line) => `${line.name} ${formatNumber(line.total)}`).join(", ");
  return [
    s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${totals}` }, grid, columns),
    h("ul", { class: "legend" }, shown.map((line) =>
      h("li", {}, h("button", { type: "button", "aria-pressed": String(!hidden.has(line.name)), onclick: () => { if (!hidden.delete(line.name)) hidden.add(line.name); draw(); } },
        h("i", { class: line.colour.replace("fill", "back") }), line.name, h("b", {}, formatNumber(line.total)))))),
  ];
}

/** Draws a line without axes. */
export function sparkline(counts, name) {
  const most = Math.max(...counts, 1);
  const points = counts.map((value, at) => `${(at * 100) / Math.max(counts.length - 1, 1)},${24 - (22 * value) / most}`);
  return s("svg", { class: `spark ${name}`, viewBox: "0 0 100 26", preserveAspectRatio: "none", "aria-hidden": "true" }, s("polyline", { points: points.join(" ") }));
}
