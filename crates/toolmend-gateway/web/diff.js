// Before and after, side by side, with what was taken out, what came in, and the places of repairs.

import { h } from "./dom.js";

const MOST_STEPS = 1500;

const tokens = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/** The fewest tokens to take out and put in (Myers); none where that would take too long. */
function script(before, after) {
  const [n, m] = [before.length, after.length];
  let front = new Map([[1, 0]]);
  const trace = [];
  for (let d = 0; d <= Math.min(n + m, MOST_STEPS); d += 1) {
    trace.push(new Map(front));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (front.get(k - 1) ?? -1) < (front.get(k + 1) ?? -1));
      let x = down ? front.get(k + 1) ?? 0 : (front.get(k - 1) ?? 0) + 1;
      while (x < n && x - k < m && before[x] === after[x - k]) x += 1;
      front.set(k, x);
      if (x >= n && x - k >= m) return walk(trace, n, m);
    }
  }
  return null;
}

function walk(trace, n, m) {
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

/** Which characters of both texts are the same. */
export function compare(before, after) {
  const [left, right] = [tokens(before), tokens(after)];
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const kept = script(left.slice(start, left.length - end), right.slice(start, right.length - end)) ?? [];
  const same = [new Set(), new Set()];
  for (let at = 0; at < start; at += 1) same.forEach((side) => side.add(at));
  for (const [x, y] of kept) { same[0].add(start + x); same[1].add(start + y); }
  for (let at = 1; at <= end; at += 1) { same[0].add(left.length - at); same[1].add(right.length - at); }
  return [ranges(left, same[0]), ranges(right, same[1])];
}

/** Neighbours that are alike, as ranges of characters. */
function ranges(list, same) {
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

function pane(text, parts, word, places) {
  const cuts = new Set(parts.flatMap((part) => [part.start, part.end]));
  places.forEach(({ at }) => at && at.forEach((cut) => cuts.add(cut)));
  const edges = [...cuts].filter((cut) => cut <= text.length).sort((one, other) => one - other);
  const out = [];
  for (let index = 0; index + 1 < edges.length; index += 1) {
    const [start, end] = [edges[index], edges[index + 1]];
    const changed = parts.some((part) => part.changed && part.start <= start && end <= part.end);
    const repairs = places.flatMap(({ at }, number) => (at && at[0] <= start && end <= at[1] ? [number] : []));
    const name = changed ? word : "span";
    out.push(changed || repairs.length ? h(name, { class: repairs.length ? "place" : null, "data-repairs": repairs.join(" ") }, text.slice(start, end)) : text.slice(start, end));
  }
  return out;
}

/** Two panes. Repairs are marked in the first one. */
export function sideBySide(before, after, repairs = []) {
  const [left, right] = after === null ? [[{ start: 0, end: before.length, changed: false }], []] : compare(before, after);
  const panel = (title, content, extra) => h("section", { class: `pane ${extra}`, "aria-label": title }, h("h3", {}, title), h("pre", { tabindex: "0" }, content));
  return h("div", { class: `diff${after === null ? " alone" : ""}` },
    panel("As the model wrote it", pane(before, left, "del", repairs), "before"),
    after === null ? null : panel("As it was sent", pane(after, right, "ins", []), "after"));
}

/** Shows where a repair was made while its line is pointed at. */
export function link(diff, item, number) {
  const mark = (on) => diff.querySelectorAll("[data-repairs]").forEach((element) => {
    if (element.dataset.repairs.split(" ").includes(String(number))) element.classList.toggle("on", on);
  });
  for (const [name, on] of [["mouseenter", true], ["mouseleave", false], ["focusin", true], ["focusout", false]]) {
    item.addEventListener(name, () => mark(on));
  }
}
