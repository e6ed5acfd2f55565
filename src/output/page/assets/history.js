// The chart of a benchmark's history: its values in successive runs, the levels and their changes, and the range expected for the newest value.

function historyChart(one) {
  const found = one.history;
  if (!found) return null;
  const words = Object.keys(VERDICTS);
  const points = found.values.map((value, place) => {
    const [run, day, commit] = HEAD.history[isNumber(found.runs) ? found.runs + place : found.runs[place]];
    return { run, day, commit, value, verdict: words[found.verdicts.charCodeAt(place) - 97], place };
  });
  for (const [why, first, last] of found.without || []) points.slice(first, last + 1).forEach((point) => { point.why = why; });
  const counted = points.filter((point) => isNumber(point.value));
  if (counted.length < 2) return null;
  const newest = counted.at(-1);
  const steps = found.levels.filter((level) => level[3]);
  const write = (value) => reading(one.metric, value);
  return {
    name: "history", title: "History", wide: true,
    words: `${counted.length} runs from ${counted[0].day} to ${newest.day}, ${write(counted[0].value)} to ${write(newest.value)}. `
      + (steps.length ? `Changes of level: ${steps.map((level) => `${change(level[3][0])} with run ${points[level[0]].run}`).join(", ")}.` : "No change of level.")
      + (found.band ? ` Run ${newest.run} was to be expected between ${write(found.band[1])} and ${write(found.band[2])}.` : "")
      + (found.together || []).map((sentence) => ` ${sentence}.`).join(""),
    caption: together(
      `A point is the ${found.value || "value"} of a run. Lines: levels.`,
      steps.length && "Dashed: where the level changed.",
      found.band && `Box: where run ${newest.run} was to be expected.`,
      counted.length < points.length && `${counted.length} of ${points.length} runs are comparable with the newest one.`,
    ),
    table: () => plainTable("History", ["run", "day", "commit", "value", "verdict", "level changed"], points.map((point) => {
      const step = steps.find((level) => level[0] === point.place);
      return [`run ${point.run}`, point.day || "", point.commit || "", isNumber(point.value) ? write(point.value) : point.why || "-", point.verdict || "", step ? `${change(step[3][0])} ${bounds(step[3], change)}` : ""];
    })),
    draw(width) {
      const box = { left: 60, right: width - 16, top: 30, bottom: 220 };
      const known = counted.map((point) => point.value).concat(found.band ? found.band.slice(1) : []);
      let [low, high] = [Math.min(...known), Math.max(...known)];
      const room = Math.max((high - low) * 0.12, high * 0.002);
      const y = valueAxis(one.metric, Math.max(0, low - room), high + room, box.bottom, box.top, 5);
      const at = scale(0, Math.max(1, points.length - 1), box.left + 12, box.right - 14);
      const every = Math.ceil(points.length / Math.max(2, width / 110));
      const marked = points.filter((_, i) => (points.length - 1 - i) % every === 0);
      const x = { at, ticks: marked.map((point) => point.place), labels: marked.map((point) => `${point.run}${width > 560 && point.day ? ` · ${point.day.slice(5)}` : ""}`), title: "run" };
      const nodes = [frame(box, x, y)];
      if (found.band) {
        const [, lower, upper] = found.band;
        nodes.push(s("rect", { class: "expected", x: number(at(newest.place) - 8), width: 16, y: number(y.at(upper)), height: number(Math.max(1, y.at(lower) - y.at(upper))), rx: 4 }));
      }
      for (const [first, last, value, step] of found.levels) {
        nodes.push(s("path", { class: "level", d: `M${number(at(first) - 4)} ${number(y.at(value))}H${number(at(last) + 4)}` }));
        if (step) {
          const edge = number((at(first) + at(Math.max(0, first - 1))) / 2);
          nodes.push(s("path", { class: "step", d: `M${edge} ${box.top - 4}V${box.bottom}` }), s("text", { class: "strong", x: Math.min(edge, box.right - 30), y: box.top - 10, "text-anchor": "middle" }, change(step[0])));
        }
      }
      for (const point of points) {
        const here = one.candidate && point.run === one.candidate.run;
        nodes.push(isNumber(point.value)
          ? s("circle", { class: here ? `bar-dot f-${toneOf(one)}` : "dot sure", cx: number(at(point.place)), cy: number(y.at(point.value)), r: here ? 6 : 3 }, s("title", null, `run ${point.run}, ${point.day}${point.commit ? `, ${point.commit}` : ""}: ${write(point.value)}`))
          : s("path", { class: "axis", d: `M${number(at(point.place)) - 3} ${box.bottom - 9}l6 6m0 -6l-6 6` }));
      }
      return { height: box.bottom + 42, nodes: nodes.flat() };
    },
  };
}
