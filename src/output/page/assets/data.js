// The data of the page, as src/output/page/data.rs has written them. The curves of a benchmark are decoded when a chart first needs them.

const DATA = JSON.parse(byId("data").textContent);
const HEAD = DATA.head;
const BENCHMARKS = DATA.benchmarks;
const TIME = { kind: "time" };

const TONES = {
  regressed: "bad", suspect: "warn", failed: "bad", incomparable: "odd", missing: "odd", inconclusive: "calm", new: "odd", unchanged: "calm", improved: "good",
};
/** The symbol and the color of each verdict, the most severe verdict first. The symbols are the same as in the tables of the program. */
const VERDICTS = Object.fromEntries(HEAD.symbols.map(([word, symbol]) => [word, { symbol, tone: TONES[word] }]));
const RANK = new Map(HEAD.symbols.map(([word], rank) => [word, rank]));
const toneOf = (one) => (VERDICTS[one.verdict] || { tone: "calm" }).tone;

/** Names for the elements of two arrays in the data of a side, which has them without names to save space. */
const NUMBERS_OF = ["samples", "processes", "min", "max", "cv", "r2", "error"];
const ESTIMATES_OF = ["mean", "over", "bca", "median", "free", "sd", "mad", "slope"];

function named(side) {
  NUMBERS_OF.forEach((name, i) => { side[name] = side.numbers[i]; });
  ESTIMATES_OF.forEach((name, i) => { side[name] = side.estimates[i]; });
  side.intervals = side.intervals || "t interval";
  const processes = side.quartiles.length / 6;
  if (isNumber(side.counts)) side.counts = new Array(processes).fill(side.counts);
}

BENCHMARKS.forEach((one, index) => {
  one.index = index;
  for (const side of [one.candidate, one.base]) if (side) named(side);
  one.metric = one.metric || TIME;
  [one.package, one.target] = HEAD.places[one.place];
  one.place = `${one.package}/${one.target}`;
  one.address = `${one.place}/${one.id}`;
  one.hash = `#${[one.package, one.target, one.id].map(encodeURIComponent).join("/")}`;
  one.words = `${one.id}\n${one.place}`.toLowerCase();
  const found = one.compared && one.compared.change;
  one.change = found ? found[0] : isNumber(one.stored) ? one.stored : null;
});

/** Returns the value before the change (`i` = 0) or after it (1), as a number and as a text. Returns null if the data do not have it. */
const valueOf = (one, i) => (one.compared && one.compared.values ? one.compared.values.map((both) => both[i]) : null);
const medianOf = (one, side) => (one[side] && one[side].median ? one[side].median[0] : null);
const nameOf = (one, side) => `run ${one[side].run}`;
const threshold = (one) => (one.compared ? one.compared.threshold : 0);

/** Returns the throughput of a side in bytes per second and in elements per second, as far as the benchmark declares them. */
function rates(one, side) {
  const median = medianOf(one, side);
  if (!Array.isArray(one.throughput) || !median) return [];
  const [bytes, elements] = one.throughput;
  return [
    bytes && { value: (bytes * 1e9) / median, unit: "B/s" },
    elements && { value: (elements * 1e9) / median, unit: "elem/s" },
  ].filter(Boolean);
}

/** Returns the throughput of a side as a text: the rates, or the words in which the author of the benchmark declared what an iteration processes. */
const throughputText = (one, side) => (typeof one.throughput === "string" ? one.throughput : rates(one, side).map((found) => rate(found.value, found.unit)).join(", "));

/** Decodes the curves of a side, and keeps them for the next call. Returns null if the side was not measured. */
function curves(one, side) {
  const found = one[side];
  if (!found) return null;
  if (found.curves) return found.curves;
  const [low, high] = found.range;
  const inRange = (text, width) => places(text, width).map((place) => low + place * (high - low));
  const least = Math.log(Math.max(found.min, 1e-6));
  const most = Math.log(Math.max(found.max, 1e-6));
  // A sample at one end of the range lies far outside it and is not drawn, because the range has a margin at both ends. Only at 0 it has none.
  const order = places(found.order, 2).map((place) => (place === 1 || (place === 0 && low > 0) ? null : low + place * (high - low)));
  const processes = [];
  const quartiles = inRange(found.quartiles, 2);
  const violins = places(found.violins, 1);
  const spans = inRange(found.spans, 2);
  const each = violins.length / found.counts.length;
  let start = 0;
  found.counts.forEach((count, index) => {
    processes.push({
      times: order.slice(start, start + count),
      quartiles: quartiles.slice(index * 3, index * 3 + 3),
      span: spans.slice(index * 2, index * 2 + 2),
      density: violins.slice(index * each, (index + 1) * each),
    });
    start += count;
  });
  const ramp = found.ramp && {
    iterations: found.ramp[0],
    of: found.ramp[4],
    points: zip(places(found.ramp[2], 2), places(found.ramp[3], 2)).map(([x, y]) => [x * found.ramp[0], y * found.ramp[1]]),
  };
  found.curves = {
    density: places(found.density, 2),
    processes,
    drawn: order.length,
    quantiles: places(found.quantiles, 3).map((place) => Math.exp(least + place * (most - least))),
    ramp,
  };
  return found.curves;
}

const zip = (a, b) => a.map((value, index) => [value, b[index]]);

/** Returns the sides that were measured. The base comes first, because it is drawn first. */
const sidesOf = (one) => ["base", "candidate"].filter((side) => one[side]);

/** Returns the range of values that the charts of a benchmark show. It includes the ranges of both sides. */
const rangeOf = (one) => {
  const ranges = sidesOf(one).map((side) => one[side].range);
  return [Math.min(...ranges.map((range) => range[0])), Math.max(...ranges.map((range) => range[1]))];
};

/** Builds a sentence from a phrase and the texts that fill the gaps of the phrase. */
function sentence([phrase, numbers]) {
  const filling = numbers ? numbers.split("|") : [];
  let next = 0;
  return DATA.phrases[phrase][1].replace(/\u0001/g, () => filling[next++]);
}

/** Returns the families of benchmarks whose ids differ only in a number at the end. A chart shows each family as a curve over that number. */
function families() {
  if (DATA.families) return DATA.families;
  const found = new Map();
  for (const one of BENCHMARKS) {
    const match = /^(.*\D)?(\d+(?:\.\d+)?)$/.exec(one.id);
    if (!match || !(one.candidate || one.base)) continue;
    const key = JSON.stringify([one.package, one.target, match[1] || "", one.metric]);
    if (!found.has(key)) found.set(key, { place: one.place, name: (match[1] || "").replace(/[\s/:_=-]+$/, ""), members: [] });
    found.get(key).members.push({ one, at: Number(match[2]) });
  }
  const all = [...found.values()].filter((family) => new Set(family.members.map((member) => member.at)).size > 1);
  all.forEach((family) => family.members.sort((a, b) => a.at - b.at));
  DATA.families = all;
  return all;
}
