// The charts of one benchmark. Each says in words what it shows, and has the numbers behind it as a table.

const stated = (one, side, name) => {
  const found = one[side][name];
  return `${spent(one.metric, found[0])} ${bounds(found, (value) => spent(one.metric, value))}`;
};
const measured = (metric) => ({ time: "time per iteration", rate: `time per unit (${metric.unit})`, amount: `${metric.unit} per iteration` })[metric.kind];
const outsideNote = (one) => {
  const parts = sidesOf(one).filter((side) => one[side].outside)
    .map((side) => `${counted(one[side].outside, "sample")} of ${nameOf(one, side)} (largest ${spent(one.metric, one[side].max)})`);
  return parts.length ? `Far outside and not drawn: ${parts.join(", ")}.` : null;
};
const thinnedNote = (one) => {
  const parts = sidesOf(one).filter((side) => curves(one, side).drawn < one[side].samples)
    .map((side) => `${curves(one, side).drawn} of ${one[side].samples.toLocaleString("en")}`);
  return parts.length ? `Thinned: ${parts.join(" and ")} samples are drawn.` : null;
};
/** Explains why the peaks of the two sides can lie apart although the verdict is undecided. Returns null for other verdicts. */
const undecidedNote = (one) => (["inconclusive", "suspect"].includes(one.verdict) && sidesOf(one).length === 2
  ? `Samples of one process are alike, so humps that lie apart decide nothing by themselves: the verdict rests on ${sidesOf(one).map((side) => counted(one[side].processes, "process", "processes")).join(" and ")}.` : null);
const together = (...notes) => notes.filter(Boolean).join(" ") || null;

/** The interval that the verdict rests on takes at least this share of the chart's width. Ends of far wider intervals are cut off. */
const LEAST_SHARE = 0.08;

/**
 * Returns the range of changes that the chart of the change shows: all intervals, the noise threshold and the curve of resampled changes.
 * If these are far wider than the interval that the verdict rests on, the range is reduced to that interval and its surroundings.
 */
function reachOf(found, rows, curve) {
  const [, lower, upper] = found.change;
  const noise = found.threshold * 1.6;
  const ends = (values) => [Math.min(...values), Math.max(...values)];
  let [low, high] = ends(rows.flatMap(([, estimate]) => estimate).concat(curve ? curve.range : [], [-noise, noise]).filter(isNumber));
  const room = isNumber(lower) && isNumber(upper) ? Math.max(upper - lower, noise) : Infinity;
  if (room < LEAST_SHARE * (high - low)) {
    const wanted = ends([lower - room, upper + room, -noise, noise, ...rows.map(([, estimate]) => estimate[0])]);
    [low, high] = [Math.max(low, wanted[0]), Math.min(high, wanted[1])];
  }
  const margin = (high - low) * 0.03;
  return [low - margin, high + margin];
}

/** Returns the chart of the change, with its intervals, the distribution of resampled changes, and a band for the noise threshold. */
function changeChart(one) {
  const found = one.compared;
  if (!found || !found.change) return null;
  const level = percent(HEAD.level);
  const rows = [
    ["decided", found.change, toneOf(one)],
    found.median && ["median", found.median, "calm"],
    found.mean && ["mean", found.mean, "calm"],
  ].filter(Boolean);
  const text = (estimate) => `${change(estimate[0])} ${bounds(estimate, change)}`;
  const resampled = found.mean ? one.resampled : null;
  // Do not draw a curve whose ends are outside the range, because its middle would look like a plateau.
  const reach = reachOf(found, rows, resampled);
  const curve = resampled && reach[0] <= resampled.range[0] && resampled.range[1] <= reach[1] ? resampled : null;
  return {
    name: "change", title: "The change", wide: true,
    words: `Change: ${text(found.change)}, noise threshold ${percent(found.threshold)}, verdict ${one.verdict}.`
      + (resampled ? ` The resampled changes of the mean lie from ${change(resampled.range[0])} to ${change(resampled.range[1])}.` : ""),
    caption: together(
      curve && `Curve, of the mean below it alone: ${counted(curve.count, "resample")} of its change${sidesOf(one).every((side) => one[side].processes > 1) ? ", process by process" : ""}.`,
      resampled && !curve && `The resampled changes of the mean lie from ${change(resampled.range[0])} to ${change(resampled.range[1])}, too far apart to be drawn here.`,
      "An arrow: it goes on beyond the picture.",
      `Shaded: within the noise threshold of ${percent(found.threshold)}.`,
      `“Decided” is the interval that the verdict rests on; mean and median are described at ${level}.`,
    ),
    table: () => plainTable("The change", ["", "change", "lower", "upper"], rows.map(([name, estimate]) =>
      [name, ...estimate.map((value) => (isNumber(value) ? change(value) : "-"))])),
    draw(width) {
      // Draw the curve right above the row of the mean, because it shows changes of the mean. The decided change may be that of another statistic.
      const room = curve ? 80 : 0;
      const box = { left: 74, right: width - 16, top: 16, bottom: 16 + room + rows.length * 24 + 10 };
      const rowAt = (index) => 28 + index * 24 + (index === rows.length - 1 ? room : 0);
      const x = changeAxis(...reach, box.left, box.right, width / 110);
      const beyond = (value, side) => !isNumber(value) || (side < 0 ? x.at(value) < box.left : x.at(value) > box.right);
      const nodes = [
        s("rect", { class: "band", x: number(x.at(-found.threshold)), width: number(x.at(found.threshold) - x.at(-found.threshold)), y: box.top - 6, height: box.bottom - box.top + 6 }),
        frame(box, x, null),
        s("path", { class: "zero", d: `M${number(x.at(0))} ${box.top - 6}V${box.bottom}` }),
      ];
      if (curve) {
        const heights = places(curve.density, 2);
        const at = scale(0, heights.length - 1, x.at(curve.range[0]), x.at(curve.range[1]));
        const foot = rowAt(rows.length - 1) - 10;
        const points = heights.map((height, i) => [at(i), foot - height * (room - 4)]);
        if (points.length) nodes.push(s("path", { class: "area of-mean", d: `${path([[points[0][0], foot], ...points, [points.at(-1)[0], foot]])}Z` }));
      }
      rows.forEach(([name, estimate, tone], index) => {
        const y = rowAt(index);
        const [lower, upper] = [[1, box.left, -1], [2, box.right, 1]].map(([bound, edge, side]) => ({ place: beyond(estimate[bound], side) ? edge : x.at(estimate[bound]), cut: beyond(estimate[bound], side), side }));
        nodes.push(
          s("text", { x: box.left - 10, y: y + 4, "text-anchor": "end", class: index ? null : "strong" }, name),
          s("path", { class: `bar-line s-${tone}`, d: `M${number(lower.place)} ${y}H${number(upper.place)}` }),
          [lower, upper].map(({ place, cut, side }) => (cut ? goesOn(tone, place, y, side) : s("path", { class: `bar-line s-${tone}`, d: `M${number(place)} ${y - 5}v10` }))),
          s("circle", { class: `bar-dot f-${tone}`, cx: number(x.at(estimate[0])), cy: y, r: index ? 4 : 5.5 }),
        );
      });
      return { height: box.bottom + 26, nodes: nodes.flat() };
    },
  };
}

/** Returns a function from the index of a point on the density curve to the value of the samples at that point. */
const placeOf = (side) => scale(0, side.density.length / 2 - 1, ...side.range);

/** Adds a margin to a range, so that nothing touches the edge of the chart. */
const roomy = ([low, high]) => [Math.max(0, low - (high - low) * 0.03), high + (high - low) * 0.03];

/** Returns the chart that shows how the samples of each side are distributed. */
function densityChart(one) {
  const sides = sidesOf(one);
  if (!sides.length) return null;
  return {
    name: "density", title: "Density of the samples", legend: sidesLegend(one),
    words: `${sides.map((side) => `${nameOf(one, side)}: ${counted(one[side].samples, "sample")}, median ${stated(one, side, "median")}`).join("; ")}. Drawn from ${rangeOf(one).map((end) => spent(one.metric, end)).join(" to ")}.`,
    caption: together("Lines: medians. Strokes: samples.", undecidedNote(one), outsideNote(one)),
    table: () => plainTable("Density", ["run", measured(one.metric), "of the highest peak"], sides.flatMap((side) => {
      const at = placeOf(one[side]);
      return curves(one, side).density.map((height, i) => [nameOf(one, side), spent(one.metric, at(i)), percent(Math.round(height * 1000) / 1000)]);
    })),
    draw(width) {
      const rugs = sides.length * 15;
      const box = { left: 16, right: width - 16, top: 8, bottom: 190 + rugs };
      const x = valueAxis(one.metric, ...roomy(rangeOf(one)), box.left, box.right, width / 90, measured(one.metric));
      const ground = box.bottom - rugs - 4;
      const nodes = [frame(box, x, null)];
      for (const side of sides) {
        const heights = curves(one, side).density;
        const at = placeOf(one[side]);
        const points = heights.map((height, i) => [x.at(at(i)), ground - height * (ground - box.top - 6)]);
        if (points.length) nodes.push(s("path", { class: `area of-${side}`, d: `${path([[points[0][0], ground], ...points, [points.at(-1)[0], ground]])}Z` }));
        nodes.push(s("path", { class: `median of-${side}`, d: `M${number(x.at(one[side].median[0]))} ${box.top}V${ground}` }));
      }
      sides.forEach((side, index) => {
        const y = ground + 4 + index * 15;
        const strokes = new Set(curves(one, side).processes.flatMap((process) => process.times).filter(isNumber).map((value) => Math.round(x.at(value) * 2) / 2));
        nodes.push(s("path", { class: `rug of-${side}`, d: [...strokes].map((at) => `M${at} ${y}v12`).join("") }));
      });
      return { height: box.bottom + 42, nodes };
    },
  };
}

/** Returns the chart that shows each process of both sides as a violin. If a process has no density curve, all are lines between quartiles. */
function processesChart(one) {
  const sides = sidesOf(one);
  if (!sides.length) return null;
  const all = sides.flatMap((side) => curves(one, side).processes.map((process, index) => ({ side, process, index })));
  const violins = all.every(({ process }) => process.density.length);
  return {
    name: "processes", title: "Process by process", legend: sidesLegend(one),
    words: sides.map((side) => `${nameOf(one, side)}: medians of its processes ${curves(one, side).processes.map((process) => spent(one.metric, process.quartiles[1])).join(", ")}`).join(". "),
    caption: violins ? "Violins of the bulk of each process, the median across." : "From the lower to the upper quartile, the median across.",
    table: () => plainTable("Processes", ["process", "lower quartile", "median", "upper quartile"], all.map(({ side, process, index }) =>
      [`${nameOf(one, side)}, ${index + 1}`, ...process.quartiles.map((value) => spent(one.metric, value))])),
    draw(width) {
      const box = { left: 56, right: width - 10, top: 20, bottom: 240 };
      const ends = all.flatMap(({ process }) => (violins ? process.span : process.quartiles));
      const [low, high] = [Math.min(...ends), Math.max(...ends)];
      const y = valueAxis(one.metric, ...(low < high ? roomy([low, high]) : rangeOf(one)), box.bottom, box.top, 6);
      const gap = sides.length > 1 ? 1 : 0;
      const room = (box.right - box.left) / (all.length + gap);
      const middle = (place) => box.left + room * (place + 0.5 + (gap && all[place].side === "candidate" ? 1 : 0));
      const labelled = sides.map((side) => {
        const own = all.map((entry, place) => [entry, place]).filter(([entry]) => entry.side === side).map(([, place]) => place);
        return [(middle(own[0]) + middle(own.at(-1))) / 2, `${nameOf(one, side)}, ${counted(own.length, "process", "processes")}`];
      });
      const x = { at: (value) => value, ticks: labelled.map(([at]) => at), labels: labelled.map(([, label]) => label), bare: true, all: true };
      const nodes = [frame(box, x, y)];
      const half = Math.min(room * 0.46, 34);
      all.forEach(({ process, side }, place) => {
        const centre = middle(place);
        const [lower, median, upper] = process.quartiles.map((value) => number(y.at(value)));
        if (violins) {
          const at = scale(0, process.density.length - 1, ...process.span);
          const shape = process.density.map((height, i) => [height * half, y.at(at(i))]).filter(([height]) => height > 0.25);
          if (shape.length) nodes.push(s("path", { class: `area of-${side}`, d: `${path([...shape.map(([w, v]) => [centre + w, v]), ...shape.reverse().map(([w, v]) => [centre - w, v])])}Z` }));
        } else {
          nodes.push(s("path", { class: `rug of-${side}`, "stroke-width": 3, d: `M${number(centre)} ${lower}V${upper}` }));
        }
        nodes.push(s("path", { class: `median of-${side}`, d: `M${number(centre - half * 0.7)} ${median}h${number(half * 1.4)}` }));
      });
      return { height: box.bottom + 30, nodes };
    },
  };
}

/** Returns those of Tukey's fences that are inside the drawn range: their value, the index of the process, and whether they bound severe outliers. */
function fencesWithin(one, side) {
  const [low, high] = rangeOf(one);
  return (one[side].fences || []).flatMap((found, process) => found.map((value, i) => ({ value, process, severe: i % 3 === 0 })))
    .filter(({ value }) => low <= value && value <= high);
}
const fencesNote = (one) => sidesOf(one).some((side) => fencesWithin(one, side).length)
  && "Dashed: Tukey's fences of each process; what is beyond the first is a mild outlier, beyond the second a severe one.";

/** Returns the chart of the samples in the order in which they were taken. */
function orderChart(one) {
  const sides = sidesOf(one);
  if (!sides.length) return null;
  const processes = Math.max(...sides.map((side) => curves(one, side).processes.length));
  const value = (process, i) => (process.times[i] === null ? "far outside" : spent(one.metric, process.times[i]));
  return {
    name: "order", title: "Samples in order", legend: sidesLegend(one),
    words: `Samples in the order taken, process by process. ${sides.map((side) => {
      const all = curves(one, side).processes;
      return `${nameOf(one, side)}: first process median ${spent(one.metric, all[0].quartiles[1])}, last process median ${spent(one.metric, all.at(-1).quartiles[1])}`;
    }).join("; ")}.`,
    caption: together("Each strip is a process: a slope within it is drift.", fencesNote(one), thinnedNote(one), outsideNote(one)),
    table: () => plainTable("Samples in order", ["process", ...sides.map((side) => nameOf(one, side))],
      Array.from({ length: processes }, (_, k) => [String(k + 1), ...sides.map((side) => {
        const process = curves(one, side).processes[k];
        return process ? process.times.map((_, i) => value(process, i)).join(", ") : "";
      })]), "wrap"),
    draw(width) {
      const box = { left: 56, right: width - 10, top: 20, bottom: 240 };
      const y = valueAxis(one.metric, ...rangeOf(one), box.bottom, box.top, 6);
      const room = (box.right - box.left) / processes;
      const x = {
        at: (process) => box.left + room * (process + 0.5), ticks: Array.from({ length: processes }, (_, i) => i),
        labels: Array.from({ length: processes }, (_, i) => String(i + 1)), title: "process", bare: true,
      };
      const nodes = [];
      for (let k = 0; k < processes; k += 2) nodes.push(s("rect", { class: "lane", x: number(box.left + room * k), y: box.top, width: number(room), height: box.bottom - box.top }));
      nodes.push(frame(box, x, y));
      for (const side of sides) {
        for (const { value, process, severe } of fencesWithin(one, side)) {
          nodes.push(s("path", { class: `fence of-${side}${severe ? " severe" : ""}`, d: `M${number(box.left + room * (process + 0.03))} ${number(y.at(value))}h${number(room * 0.94)}` }));
        }
        curves(one, side).processes.forEach((process, k) => {
          const last = process.times.length - 1;
          const at = last ? scale(0, last, box.left + room * (k + 0.06), box.left + room * (k + 0.94)) : () => box.left + room * (k + 0.5);
          process.times.forEach((nanoseconds, i) => nanoseconds !== null && nodes.push(s("circle", { class: `dot of-${side}`, cx: number(at(i)), cy: number(y.at(nanoseconds)), r: last ? 1.7 : 3 })));
        });
      }
      return { height: box.bottom + 42, nodes };
    },
  };
}

/** Returns the chart of the linear phases: how long each number of iterations took, with a line through the origin and the interval of its slope. */
function rampChart(one) {
  const sides = sidesOf(one).filter((side) => curves(one, side).ramp && one[side].slope);
  if (!sides.length) return null;
  const of = (side) => curves(one, side).ramp;
  const top = one.ramp_top;
  const above = () => {
    const parts = sides.map((side) => [side, of(side).points.filter((point) => point[1] > top)]).filter(([, found]) => found.length)
      .map(([side, found]) => `${counted(found.length, "sample")} of ${nameOf(one, side)} (largest ${spent(one.metric, Math.max(...found.map((point) => point[1])))})`);
    return parts.length ? `Above the picture and not drawn: ${parts.join(", ")}; the slope is that of all samples, these too.` : null;
  };
  return {
    name: "ramp", title: one.metric.kind === "amount" ? `Iterations and ${one.metric.unit}` : "Iterations and time", legend: sidesLegend(one),
    words: sides.map((side) => `${nameOf(one, side)}: slope ${stated(one, side, "slope")}${isNumber(one[side].r2) ? `, R² ${one[side].r2.toFixed(4)}` : ""}`).join("; "),
    caption: together("Line through the origin, shaded: the interval of its slope.", above(),
      sides.some((side) => of(side).points.length < of(side).of) && `Thinned: ${sides.map((side) => `${of(side).points.length} of ${of(side).of}`).join(" and ")} samples are drawn.`),
    table: () => plainTable("Iterations and time", ["iterations", ...sides.map((side) => nameOf(one, side))],
      sides.flatMap((side) => of(side).points.map(([count, elapsed]) => [Math.round(count).toLocaleString("en"), ...sides.map((own) => (own === side ? spent(one.metric, elapsed) : ""))]))),
    draw(width) {
      const box = { left: 60, right: width - 12, top: 20, bottom: 240 };
      const most = Math.max(...sides.map((side) => of(side).iterations)) * 1.03;
      const counts = ticks(0, most, width / 90);
      const x = { at: scale(0, most, box.left, box.right), ticks: counts, labels: counts.map((value) => value.toLocaleString("en", { notation: "compact" })), title: "iterations per sample" };
      const y = valueAxis(one.metric, 0, top, box.bottom, box.top, 6);
      const nodes = [frame(box, x, y)];
      // Returns the point where a line with this slope ends. This is at the largest number of iterations, or where the line leaves the chart.
      const end = (side, slope) => {
        const count = of(side).iterations;
        return slope * count > top ? [x.at(top / slope), y.at(top)] : [x.at(count), y.at(slope * count)];
      };
      const corner = (side, lower, upper) => (upper * of(side).iterations > top && lower * of(side).iterations < top ? [[x.at(of(side).iterations), y.at(top)]] : []);
      for (const side of sides) {
        const [estimate, , upper] = one[side].slope;
        const lower = isNumber(one[side].slope[1]) ? Math.max(0, one[side].slope[1]) : null;
        const origin = [x.at(0), y.at(0)];
        if (isNumber(lower) && isNumber(upper)) nodes.push(s("path", { class: `fit-band of-${side}`, d: `${path([origin, end(side, lower), ...corner(side, lower, upper), end(side, upper)])}Z` }));
        nodes.push(s("path", { class: `curve of-${side}`, d: path([origin, end(side, estimate)]) }));
        for (const [count, elapsed] of of(side).points) {
          if (elapsed <= top) nodes.push(s("circle", { class: `dot of-${side}`, cx: number(x.at(count)), cy: number(y.at(elapsed)), r: 2.4 }));
        }
      }
      return { height: box.bottom + 42, nodes };
    },
  };
}

const statedQuantiles = (one) => [0.05, 0.5, 0.95, 0.99].map((p) => {
  const at = HEAD.probabilities.findIndex((known) => Math.abs(known - p) < 1e-9);
  return `${percent(p)}: ${sidesOf(one).map((side) => `${spent(one.metric, curves(one, side).quantiles[at])} (${nameOf(one, side)})`).join(", ")}`;
}).join("; ");

const quantileTable = (one) => plainTable("Quantiles", ["share of samples", ...sidesOf(one).map((side) => nameOf(one, side))],
  HEAD.probabilities.map((p, i) => [percent(p), ...sidesOf(one).map((side) => spent(one.metric, curves(one, side).quantiles[i]))]));

/** Returns the quantiles inside the drawn range, with their probabilities. A curve that continues above the range gets a last point at the edge. */
function quantilesWithin(one, side) {
  const [low, high] = rangeOf(one);
  const all = zip(curves(one, side).quantiles, HEAD.probabilities);
  const inside = all.filter(([value]) => low <= value && value <= high);
  const next = all.find(([value]) => value > high);
  const last = inside.at(-1);
  if (next && last) inside.push([high, last[1] + (next[1] - last[1]) * (high - last[0]) / (next[0] - last[0])]);
  return inside;
}

/** Returns the chart of the cumulative distribution: which share of the samples took at most a given time. */
function ecdfChart(one) {
  const sides = sidesOf(one);
  if (!sides.length) return null;
  return {
    name: "ecdf", title: "Cumulative distribution", legend: sidesLegend(one),
    words: `Which share of the samples took no longer. ${statedQuantiles(one)}.`,
    caption: together("A shift to the right is slower; where curves part tells which samples are.", outsideNote(one)),
    table: () => quantileTable(one),
    draw(width) {
      const box = { left: 48, right: width - 14, top: 12, bottom: 232 };
      const x = valueAxis(one.metric, ...rangeOf(one), box.left, box.right, width / 90, measured(one.metric));
      const shares = [0, 0.25, 0.5, 0.75, 1];
      const y = { at: scale(0, 1, box.bottom, box.top), ticks: shares, labels: shares.map(percent) };
      const nodes = [frame(box, x, y)];
      for (const side of sides) {
        const points = quantilesWithin(one, side).map(([value, p]) => [x.at(value), y.at(p)]);
        nodes.push(s("path", { class: `curve of-${side}`, d: path(points) }));
      }
      return { height: box.bottom + 42, nodes };
    },
  };
}

/** Returns the chart of the percentiles, in which the slowest samples have much room: 90 to 99 % is as wide as 99 to 99.9 %, and so on. */
function percentileChart(one) {
  const sides = sidesOf(one);
  if (!sides.length) return null;
  return {
    name: "percentiles", title: "Percentiles", legend: sidesLegend(one),
    words: `Percentiles with room for the tail. ${statedQuantiles(one)}; largest: ${sides.map((side) => `${spent(one.metric, one[side].max)} (${nameOf(one, side)})`).join(", ")}.`,
    caption: together("Each step to the right is a tenth of the samples that are left.", outsideNote(one)),
    table: () => quantileTable(one),
    draw(width) {
      const box = { left: 56, right: width - 18, top: 20, bottom: 232 };
      const samples = Math.max(...sides.map((side) => one[side].samples));
      const last = Math.log10(samples + 1);
      const depth = (p) => Math.min(-Math.log10(1 - p + 1 / (samples + 1)), last);
      const marks = [0, 0.5, 0.9, 0.99, 0.999, 0.9999].filter((p) => depth(p) <= last && 1 - p >= 1 / samples);
      const x = { at: scale(depth(0), last, box.left, box.right), ticks: marks.map(depth), labels: marks.map(percent), title: "percentile" };
      const [low, high] = rangeOf(one);
      const y = valueAxis(one.metric, low, high, box.bottom, box.top, 6);
      const nodes = [frame(box, x, y)];
      sides.forEach((side) => nodes.push(s("path", { class: `curve of-${side}`, d: path(quantilesWithin(one, side).map(([value, p]) => [x.at(depth(p)), y.at(value)])) })));
      return { height: box.bottom + 42, nodes };
    },
  };
}

/** Returns the chart of the latencies: which share of the single operations took at most a given time. */
function operationsChart(one) {
  const sides = sidesOf(one).filter((side) => one[side].operations);
  if (!sides.length) return null;
  const of = (side) => {
    const [least, most, quantiles] = one[side].operations;
    return places(quantiles, 3).map((place) => Math.exp(Math.log(least) + place * (Math.log(most) - Math.log(least))));
  };
  const at = (p) => HEAD.probabilities.findIndex((known) => Math.abs(known - p) < 1e-9);
  const drawn = HEAD.probabilities.filter((p) => p <= 0.999).length;
  return {
    name: "operations", title: "Single operations", legend: sidesLegend(one),
    words: `Which share of the single operations took no longer. ${[0.5, 0.95, 0.99].map((p) => `${percent(p)}: ${sides.map((side) => `${time(of(side)[at(p)])} (${nameOf(one, side)})`).join(", ")}`).join("; ")}.`,
    caption: "The empirical distribution of operations drawn at random, each process with the weight of its operations; the last thousandth is in the table.",
    table: () => plainTable("Single operations", ["share of operations", ...sides.map((side) => nameOf(one, side))],
      HEAD.probabilities.map((p, i) => [percent(p), ...sides.map((side) => time(of(side)[i]))])),
    draw(width) {
      const box = { left: 48, right: width - 14, top: 12, bottom: 232 };
      const shown = sides.map((side) => of(side).slice(0, drawn));
      const x = valueAxis(TIME, ...roomy([Math.min(...shown.map((found) => found[0])), Math.max(...shown.map((found) => found.at(-1)))]), box.left, box.right, width / 90, "time per operation");
      const shares = [0, 0.25, 0.5, 0.75, 1];
      const y = { at: scale(0, 1, box.bottom, box.top), ticks: shares, labels: shares.map(percent) };
      const nodes = [frame(box, x, y)];
      sides.forEach((side, i) => nodes.push(s("path", { class: `curve of-${side}`, d: path(shown[i].map((value, k) => [x.at(value), y.at(HEAD.probabilities[k])])) })));
      return { height: box.bottom + 42, nodes };
    },
  };
}
