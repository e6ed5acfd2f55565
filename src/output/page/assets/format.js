// Formats numbers for people, by the same rules as the tables of the program (src/output/units.rs).

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const DIGIT = new Map([...DIGITS].map((digit, value) => [digit, value]));

/** Decodes positions between 0 and 1 from a text in which each position has `width` digits (src/output/page/encoding.rs). */
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

/** Returns the row of a table of units that fits the size of `value`. A row has a factor, a unit, and the size from which the next row fits. */
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

/** Formats what an iteration takes: a time, or an amount in its unit. For a rate, it is the time that one unit takes. */
function spent(metric, value) {
  return metric.kind === "amount" ? `${fourDigits(value)} ${metric.unit}` : time(value);
}

/** Formats a value per iteration in the way that suits its metric. A rate becomes units per second. */
function reading(metric, value) {
  if (metric.kind !== "rate") return spent(metric, value);
  return rate(1e9 / value, metric.unit === "bytes" ? "B/s" : `${metric.unit}/s`);
}

/** Formats the interval of an estimate as `[lower, upper]`. A bound that the data do not give is shown as `-`. */
const bounds = (estimate, write) =>
  `[${isNumber(estimate[1]) ? write(estimate[1]) : "-"}, ${isNumber(estimate[2]) ? write(estimate[2]) : "-"}]`;

const counted = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many || one + "s"}`;
