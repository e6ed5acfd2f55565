// Axes, shapes and cards of charts. A chart is drawn anew for each width and never stretched, so that all text has the same size.

const scale = (low, high, from, to) => {
  const factor = high > low ? (to - from) / (high - low) : 0;
  return (value) => from + (value - low) * factor;
};

const logScale = (low, high, from, to) => {
  const inner = scale(Math.log(low), Math.log(high), from, to);
  return (value) => inner(Math.log(value));
};

/** Returns about `wanted` round numbers between `low` and `high`, for the ticks of an axis. */
function ticks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(i * step + 0);
  return found;
}

/** Returns the ticks of a logarithmic axis: the powers of ten and, if there are only few of them, also their multiples by 2 and 5. */
function logTicks(low, high) {
  const found = [];
  const between = Math.log10(high / low) < 2.5 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const m of between) {
      const value = m * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found;
}

/** Formats the number of a tick, with just enough decimals to distinguish ticks that are `step` apart. */
function tickText(value, step) {
  const decimals = Math.max(0, Math.min(6, -Math.floor(Math.log10(Math.abs(step) || 1) + 1e-9)));
  const text = value.toFixed(decimals);
  return (Number(text) === 0 ? (0).toFixed(decimals) : text).replace("-", "−");
}

/** Returns labels for the values of ticks, and the unit that all labels share. */
function valueLabels(metric, values) {
  const largest = Math.max(...values.map(Math.abs), 0);
  const step = values.length > 1 ? values[1] - values[0] : largest;
  if (metric.kind === "amount") return { unit: metric.unit, labels: values.map((value) => tickText(value, step)) };
  const [factor, unit] = unitOf(TIMES, largest || 1);
  return { unit, labels: values.map((value) => tickText(value / factor, step / factor)) };
}

const number = (value) => Math.round(value * 10) / 10;
const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${number(x)} ${number(y)}`).join("");

/** Draws the axes of a chart. `x` and `y` have a function `at` from values to pixels, `ticks` (values), `labels` and a `title`. `y` may be null. */
function frame(box, x, y) {
  const found = s("g", null);
  for (const [index, value] of (y ? y.ticks : []).entries()) {
    const at = number(y.at(value));
    found.append(s("path", { class: "grid", d: `M${box.left} ${at}H${box.right}` }));
    if (y.labels[index]) found.append(s("text", { x: box.left - 8, y: at + 4, "text-anchor": "end" }, y.labels[index]));
  }
  // Move labels so that they stay inside the chart, and leave out a label that would overlap the one before it.
  const limit = box.right + (box.margin ?? 8);
  let free = -Infinity;
  for (const [index, value] of x.ticks.entries()) {
    const at = number(x.at(value));
    if (!x.bare) found.append(s("path", { class: y ? "axis" : "grid", d: `M${at} ${box.bottom}v5` }));
    const half = x.labels[index].length * 4;
    const middle = number(Math.min(Math.max(at, half), limit - half));
    if (!x.labels[index] || (!x.all && middle - half < free)) continue;
    free = middle + half + 8;
    found.append(s("text", { x: middle, y: box.bottom + 19, "text-anchor": "middle" }, x.labels[index]));
  }
  found.append(s("path", { class: "axis", d: `M${box.left} ${box.bottom}H${box.right}` }));
  if (x.title) {
    found.append(s("text", { x: number((box.left + box.right) / 2), y: box.bottom + 37, "text-anchor": "middle" }, x.title));
  }
  if (y && y.title) found.append(s("text", { x: 2, y: box.top - 8 }, y.title));
  return found;
}

/** Draws the end of an interval that continues outside the chart: an arrow that points to the left (`to` = -1) or to the right (1). */
const goesOn = (tone, x, y, to) => s("path", { class: `bar-line goes-on s-${tone}`, d: `M${number(x - 5 * to)} ${y - 5}l${5 * to} 5l${-5 * to} 5` });

/** Returns an axis for values of a metric, as `frame` takes it. */
function valueAxis(metric, low, high, from, to, wanted, title) {
  const values = ticks(low, high, wanted);
  const { unit, labels } = valueLabels(metric, values);
  return { at: scale(low, high, from, to), ticks: values, labels, title: title ? `${title}, ${unit}` : unit };
}

/** Returns an axis for changes, as `frame` takes it. The changes are fractions, and the labels show percent. */
function changeAxis(low, high, from, to, wanted) {
  const values = ticks(low * 100, high * 100, wanted);
  const step = values.length > 1 ? values[1] - values[0] : 1;
  return {
    at: scale(low, high, from, to),
    ticks: values.map((value) => value / 100),
    labels: values.map((value) => (value > 0 ? "+" : "") + tickText(value, step) + " %"),
  };
}

/**
 * Creates the card of a chart: its title, the drawing, a description for screen readers, and a table of the numbers.
 * `chart.draw(width)` returns `{height, nodes}`. It is called again when the width changes.
 */
function card(chart, about) {
  const svg = s("svg", { role: "img", "aria-label": chart.words });
  const plot = h("div", { class: "plot" }, svg);
  const paint = () => {
    const width = Math.max(240, Math.floor(plot.clientWidth));
    if (!plot.clientWidth || svg.dataset.width === String(width)) return;
    const { height, nodes } = chart.draw(width);
    svg.dataset.width = width;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren(...nodes);
  };
  const table = h("details", null, h("summary", null, "Data"));
  // Create the table only when the reader opens it, because tables can be long.
  table.addEventListener("toggle", () => {
    if (table.open && table.childElementCount === 1) table.append(h("div", { class: "scroll tall", tabindex: 0 }, chart.table()));
  });
  const save = h("button", {
    type: "button", class: "save", "aria-label": `Save “${chart.title}” as SVG`,
    onclick: () => offer(`${fileName(`${about} ${chart.title}`)}.svg`, "image/svg+xml", asFile(svg)),
  }, "Save as SVG");
  const figure = h("figure", { class: `card ${chart.wide ? "wide" : ""}`, "data-chart": chart.name },
    h("header", null, h("h3", null, chart.title), chart.legend),
    plot,
    chart.caption && h("p", { class: "caption" }, chart.caption),
    h("div", { class: "foot" }, table, chart.controls && chart.controls(() => { delete svg.dataset.width; paint(); }), save));
  figure.paint = paint;
  return figure;
}

const observer = new ResizeObserver((entries) => {
  for (const entry of entries) if (entry.target.paint) requestAnimationFrame(entry.target.paint);
});

/** Creates the cards of all charts. A card is drawn as soon as it has a width, and again when the width changes. */
function cards(charts, about) {
  const wanted = charts.filter(Boolean);
  // Cards that are not wide stand in pairs. If their number between two wide cards is odd, the last one has no partner and becomes wide, too.
  let alone = null;
  for (const chart of [...wanted, { wide: true }]) {
    if (!chart.wide) alone = alone ? null : chart;
    else if (alone) { alone.wide = true; alone = null; }
  }
  const found = wanted.map((chart) => card(chart, about));
  found.forEach((figure) => observer.observe(figure));
  return h("div", { class: "cards" }, found);
}

const sidesLegend = (one) => one.candidate && one.base && h("div", { class: "legend", "aria-hidden": "true" },
  h("span", null, h("i", { class: "of-base" }), nameOf(one, "base")), h("span", null, h("i"), nameOf(one, "candidate")));
