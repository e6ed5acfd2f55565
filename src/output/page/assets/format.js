// Numbers as people read them, by the same rules as the program's tables (src/output/units.rs).

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const DIGIT = new Map([...DIGITS].map((digit, value) => [digit, value]));

/** Places between 0 and 1, `width` digits each (src/output/page/encoding.rs). */
function places(text, width) {
  const most = 64 ** width - 1;
  const found = new Array((text || "").length / width | 0);
  for (let i = 0; i < found.length; i++) {
    let value = 0;
    for (let digit = 0; digit < width; digit++) value = value * 64 + DIGIT.get(text[i * width + digit]);
    found[i] = value / most;
  }
  return found;
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function fourDigits(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0);
}

const TIMES = [[1e-3, "ps", 1], [1, "ns", 1e3], [1e3, "µs", 1e6], [1e6, "ms", 1e9], [1e9, "s", Infinity]];
const PREFIXES = [[1, "", 1e3], [1e3, "k", 1e6], [1e6, "M", 1e9], [1e9, "G", Infinity]];

/** The row of a table of units in which `value` is written. */
const unitOf = (table, value) => table.find((row) => Math.abs(value) < row[2]);

function time(nanoseconds) {
  const [factor, unit] = unitOf(TIMES, nanoseconds);
  return `${fourDigits(nanoseconds / factor)} ${unit}`;
}

function rate(perSecond, unit) {
  const [factor, prefix] = unitOf(PREFIXES, perSecond);
  return `${fourDigits(perSecond / factor)} ${prefix}${unit}`;
}

function change(fraction) {
  const percent = fraction * 100;
  const size = Math.abs(percent);
  const text = size.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
  return `${percent < 0 ? "−" : "+"}${text} %`;
}

const percent = (fraction) => `${Math.round(fraction * 1e6) / 1e4} %`;

const probability = (p) => (p < 0.0001 ? "<.0001" : p.toFixed(4));

/** What an iteration, or a unit of a rate, takes. */
function spent(metric, value) {
  return metric.kind === "amount" ? `${fourDigits(value)} ${metric.unit}` : time(value);
}

/** A value per iteration in the terms of its metric. */
function reading(metric, value) {
  if (metric.kind !== "rate") return spent(metric, value);
  return rate(1e9 / value, metric.unit === "bytes" ? "B/s" : `${metric.unit}/s`);
}

/** `[lower, upper]`, a bound that the data do not give as `-`. */
const bounds = (estimate, write) =>
  `[${isNumber(estimate[1]) ? write(estimate[1]) : "-"}, ${isNumber(estimate[2]) ? write(estimate[2]) : "-"}]`;

const counted = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many || one + "s"}`;
