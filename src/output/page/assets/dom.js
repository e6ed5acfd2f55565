// Helpers that create elements. All text is inserted as text nodes, so it is never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/**
 * Creates an HTML element: `h("p", {class: "x"}, "text", node, ...)`. An attribute such as `onclick` adds an event listener.
 * Attributes and children that are null, undefined or false are left out.
 */
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** Creates an SVG element from the same arguments as `h`. */
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const byId = (id) => document.getElementById(id);

/** Returns a name as nodes that allow a line break after each slash. */
const breakable = (text) => text.split(/(?<=\/)/).flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));

/** Returns a text as nodes. Words between backticks, such as names and commands, are set as code. */
const prose = (text) => text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? h("code", null, part) : part));

/** Creates a table. The first cell of each row is the heading of the row. `kind` adds a CSS class. */
function plainTable(caption, columns, rows, kind) {
  return h("table", { class: `plain ${kind || ""}` },
    caption && h("caption", { class: "hidden" }, caption),
    h("thead", null, h("tr", null, columns.map((column) => h("th", { scope: "col" }, column)))),
    h("tbody", null, rows.map((row) => h("tr", { class: row.differs ? "differs" : null },
      row.map((cell, index) => h(index ? "td" : "th", index ? null : { scope: "row" }, cell))))));
}

/** Lets the reader save `text` as a file. It makes no request, so it also works in a page that was opened from a file. */
function offer(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const COPIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
  "opacity", "font-size", "font-weight", "font-family", "text-anchor"];

/** Returns a chart as the text of an SVG file. The file has no style sheet, so the styles that the page gives to the chart become attributes. */
function asFile(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, index) => {
    const style = getComputedStyle(from[index]);
    for (const name of COPIED) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute("class");
  });
  const [, , width, height] = svg.getAttribute("viewBox").split(" ");
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = s("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor });
  copy.prepend(s("title", null, svg.getAttribute("aria-label") || ""), paper);
  return new XMLSerializer().serializeToString(copy);
}

const fileName = (text) => text.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 80) || "chart";
