// Builds elements without HTML strings, so that model output is never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function populate(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function h(name, properties, ...children) {
  return populate(document.createElement(name), properties, children);
}

export function s(name, properties, ...children) {
  return populate(document.createElementNS(SVG, name), properties, children);
}

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A row of buttons of which exactly one is pressed. */
export function segmented(label, choices, chosen, onchoice) {
  const group = h("div", { class: "segmented", role: "group", "aria-label": label });
  const draw = (taken) =>
    replace(
      group,
      choices.map(([value, text]) =>
        h("button", { type: "button", "aria-pressed": String(value === taken), onclick: () => { draw(value); onchoice(value); } }, text),
      ),
    );
  draw(chosen);
  return group;
}

/** A labelled drop-down list; its first, empty option means no filter. */
export function select(label, unset, names, chosen, onchoice) {
  const known = chosen && !names.includes(chosen) ? [chosen, ...names] : names;
  const list = h("select", { onchange: (event) => onchoice(event.target.value) },
    h("option", { value: "" }, unset),
    known.map((name) => h("option", { value: name, selected: name === chosen }, name)));
  return h("label", { class: "field" }, h("span", {}, label), list);
}

export function empty(title, ...text) {
  return h("div", { class: "empty" }, h("h2", {}, title), text.map((line) => (typeof line === "string" ? h("p", {}, line) : line)));
}

export function copyButton(text, label) {
  const button = h("button", { type: "button", class: "quiet", "aria-label": label, onclick: async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } }, "Copy");
  return button;
}
