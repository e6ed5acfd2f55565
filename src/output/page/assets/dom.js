// Elements. Text goes in as text nodes alone: nothing here reads markup.

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

/** `h("p", {class: "x"}, "text", node, ...)` */
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** The same for SVG. */
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const byId = (id) => document.getElementById(id);

/** A name that may be broken behind its slashes. */
const breakable = (text) => text.split(/(?<=\/)/).flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));

/** Words of commands and names stand between backticks. */
const prose = (text) => text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? h("code", null, part) : part));

/** Rows of cells; the first cell of each row is its head. */
function plainTable(caption, columns, rows, kind) {
  return h("table", { class: `plain ${kind || ""}` },
    caption && h("caption", { class: "hidden" }, caption),
    h("thead", null, h("tr", null, columns.map((column) => h("th", { scope: "col" }, column)))),
    h("tbody", null, rows.map((row) => h("tr", { class: row.differs ? "differs" : null },
      row.map((cell, index) => h(index ? "td" : "th", index ? null : { scope: "row" }, cell))))));
}

/** Offers `text` as a file, without a request. */
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

/** A chart as a file of its own: what the page's style gives it is written into it. */
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
