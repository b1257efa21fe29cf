// The text before and after, side by side, with removals, insertions and the positions of repairs.

import { h } from "./dom.js";

const MAX_STEPS = 1500;

const tokenize = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** Finds the tokens that a shortest edit keeps (Myers), or null if that would take too long. */
function shortestEdit(before, after) {
  const [n, m] = [before.length, after.length];
  let front = new Map([[1, 0]]);
  const trace = [];
  for (let d = 0; d <= Math.min(n + m, MAX_STEPS); d += 1) {
    trace.push(new Map(front));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (front.get(k - 1) ?? -1) < (front.get(k + 1) ?? -1));
      let x = down ? front.get(k + 1) ?? 0 : (front.get(k - 1) ?? 0) + 1;
      while (x < n && x - k < m && before[x] === after[x - k]) x += 1;
      front.set(k, x);
      if (x >= n && x - k >= m) return traceBack(trace, n, m);
    }
  }
  return null;
}

/** Follows the recorded steps back and collects the kept pairs of tokens. */
function traceBack(trace, n, m) {
  const kept = [];
  let [x, y] = [n, m];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const front = trace[d];
    const k = x - y;
    const down = k === -d || (k !== d && (front.get(k - 1) ?? -1) < (front.get(k + 1) ?? -1));
    const last = down ? k + 1 : k - 1;
    const from = d === 0 ? 0 : front.get(last) ?? 0;
    const fromY = from - last;
    while (x > (d === 0 ? 0 : down ? from : from + 1) && y > (d === 0 ? 0 : down ? fromY + 1 : fromY)) {
      x -= 1;
      y -= 1;
      kept.push([x, y]);
    }
    if (d > 0) [x, y] = [from, fromY];
  }
  return kept.reverse();
}

/** Splits both texts into ranges of changed and unchanged characters. */
export function compareTexts(before, after) {
  const [left, right] = [tokenize(before), tokenize(after)];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const kept = shortestEdit(left.slice(start, left.length - end), right.slice(start, right.length - end)) ?? [];
  const same = [new Set(), new Set()];
  for (let at = 0; at < start; at += 1) same.forEach((side) => side.add(at));
  for (const [x, y] of kept) { same[0].add(start + x); same[1].add(start + y); }
  for (let at = 1; at <= end; at += 1) { same[0].add(left.length - at); same[1].add(right.length - at); }
  return [mergeRanges(left, same[0]), mergeRanges(right, same[1])];
}

/** Merges adjacent tokens of the same kind into ranges of characters. */
function mergeRanges(list, same) {
  const out = [];
  let at = 0;
  list.forEach((token, index) => {
    const changed = !same.has(index);
    const last = out.at(-1);
    if (last && last.changed === changed) last.end += token.length;
    else out.push({ start: at, end: at + token.length, changed });
    at += token.length;
  });
  return out;
}

/** Renders a text: changed ranges in elements named `tag`, repaired ranges with the numbers of their repairs. */
function renderText(text, parts, tag, repairs) {
  const cuts = new Set(parts.flatMap((part) => [part.start, part.end]));
  repairs.forEach(({ at }) => at && at.forEach((cut) => cuts.add(cut)));
  const edges = [...cuts].filter((cut) => cut <= text.length).sort((one, other) => one - other);
  const out = [];
  for (let edge = 0; edge + 1 < edges.length; edge += 1) {
    const [start, end] = [edges[edge], edges[edge + 1]];
    const changed = parts.some((part) => part.changed && part.start <= start && end <= part.end);
    const here = repairs.flatMap(({ at }, index) => (at && at[0] <= start && end <= at[1] ? [index] : []));
    const name = changed ? tag : "span";
    out.push(changed || here.length ? h(name, { class: here.length ? "repaired" : null, "data-repairs": here.join(" ") }, text.slice(start, end)) : text.slice(start, end));
  }
  return out;
}

/** Shows both texts in two panes. The first pane marks the repairs. */
export function sideBySide(before, after, repairs = []) {
  const [left, right] = after === null ? [[{ start: 0, end: before.length, changed: false }], []] : compareTexts(before, after);
  const panel = (title, content, extra) => h("section", { class: `pane ${extra}`, "aria-label": title }, h("h3", {}, title), h("pre", { tabindex: "0" }, content));
  return h("div", { class: `diff${after === null ? " alone" : ""}` },
    panel("Model output", renderText(before, left, "del", repairs), "before"),
    after === null ? null : panel("Sent to the client", renderText(after, right, "ins", []), "after"));
}

/** Highlights the position of a repair while its list item is hovered or focused. */
export function highlightOnHover(diff, item, index) {
  const highlight = (on) => diff.querySelectorAll("[data-repairs]").forEach((element) => {
    if (element.dataset.repairs.split(" ").includes(String(index))) element.classList.toggle("on", on);
  });
  for (const [name, on] of [["mouseenter", true], ["mouseleave", false], ["focusin", true], ["focusout", false]]) {
    item.addEventListener(name, () => highlight(on));
  }
}
