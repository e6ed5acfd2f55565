// Charts of families, which are benchmarks whose ids differ only in a number at the end. The chart has this number as its axis.

const HUES = 6;

/** Returns the chart of one or several families, each of which is a curve. `mark` is the benchmark whose details are open, or null. */
function familyChart(title, members, mark) {
  const state = { log: members.some(({ members: own }) => own.at(-1).at / Math.max(own[0].at, 1e-9) > 20), rate: false };
  const all = members.flatMap((family) => family.members);
  const metric = all[0].one.metric;
  const hasRate = all.every(({ one }) => rates(one, one.candidate ? "candidate" : "base").length);
  const side = (one) => (one.candidate ? "candidate" : "base");
  const estimate = ({ one }) => one[side(one)].median;
  const rateOf = ({ one }) => rates(one, side(one))[0];
  const toRate = ({ one }, time) => (rateOf({ one }).value * medianOf(one, side(one))) / time;
  const value = (member) => (state.rate ? rateOf(member).value : estimate(member)[0]);
  const text = (member) => (state.rate ? rate(rateOf(member).value, rateOf(member).unit) : reading(metric, estimate(member)[0]));
  const showsBase = members.length === 1;
  return {
    name: "family", title, wide: !mark && members.length > 3,
    legend: h("div", { class: "legend many", "aria-hidden": "true" }, members.map((family, i) => h("span", null, h("i", { class: `hue${i % HUES}` }), family.name || "(no name)")),
      showsBase && all.some(({ one }) => one.base && one.candidate) && h("span", null, h("i", { class: "of-base" }), "reference")),
    words: members.map((family) => `${family.name}: ${family.members.map((member) => `${member.at}: ${text(member)}`).join(", ")}`).join(". "),
    caption: "Medians with their intervals over the number that the ids end in.",
    table: () => plainTable(title, ["", "number", "median", "interval", ...(hasRate ? ["throughput"] : [])], members.flatMap((family) => family.members.map((member) => [
      family.name, String(member.at), reading(metric, estimate(member)[0]), bounds(estimate(member), (v) => spent(metric, v)),
      ...(hasRate ? [rate(rateOf(member).value, rateOf(member).unit)] : []),
    ]))),
    controls: (paint) => {
      const toggle = (name, label) => h("button", {
        type: "button", class: "scale", "aria-pressed": String(state[name]),
        onclick: (event) => { state[name] = !state[name]; event.currentTarget.setAttribute("aria-pressed", String(state[name])); paint(); },
      }, label);
      return [toggle("log", "Logarithmic axes"), hasRate && toggle("rate", "Throughput")];
    },
    draw(width) {
      const box = { left: 62, right: width - 16, top: 22, bottom: 250 };
      const interval = (member) => {
        const [, lower, upper] = estimate(member);
        const ends = [isNumber(lower) ? lower : estimate(member)[0], isNumber(upper) ? upper : estimate(member)[0]];
        return state.rate ? ends.map((time) => toRate(member, time)) : ends;
      };
      const own = all.map((member) => member.at);
      const before = (member) => (showsBase && !state.rate && member.one.base ? [medianOf(member.one, "base")] : []);
      const values = all.flatMap((member) => [value(member), ...interval(member), ...before(member)]).filter((v) => v > 0);
      const log = state.log && Math.min(...own) > 0 && values.length > 0;
      const [x0, x1] = [Math.min(...own), Math.max(...own)];
      const [y0, y1] = [log ? Math.min(...values) * 0.85 : 0, Math.max(...values) * (log ? 1.15 : 1.06)];
      const across = log ? logTicks(x0, x1) : ticks(x0, x1, width / 90);
      const places = across.length > 1 ? across : [...new Set(own)];
      const x = { at: (log ? logScale : scale)(x0, x1, box.left + 8, box.right - 8), ticks: places, labels: places.map((v) => v.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 4 })), title: "number at the end of the id" };
      const up = log ? logTicks(y0, y1) : ticks(y0, y1, 6);
      const labels = log || state.rate ? up.map((v) => compact(metric, v, state.rate && rateOf(all[0]).unit)) : valueLabels(metric, up).labels;
      const y = { at: (log ? logScale : scale)(y0, y1, box.bottom, box.top), ticks: up, labels, title: log || state.rate ? "" : valueLabels(metric, up).unit };
      const nodes = [frame(box, x, y)];
      members.forEach((family, i) => {
        const hue = `hue${i % HUES}`;
        if (showsBase && !state.rate) {
          const base = family.members.filter(({ one }) => one.base && one.candidate);
          nodes.push(s("path", { class: "curve of-base", d: path(base.map(({ one, at }) => [x.at(at), y.at(medianOf(one, "base"))])) }));
        }
        nodes.push(s("path", { class: `hued ${hue}`, d: path(family.members.map((member) => [x.at(member.at), y.at(value(member))])) }));
        for (const member of family.members) {
          const [low, high] = interval(member);
          const at = number(x.at(member.at));
          nodes.push(
            s("path", { class: `hued-whisker ${hue}`, d: `M${at} ${number(y.at(low))}V${number(y.at(high))}` }),
            s("circle", { class: `hued-dot ${hue}`, cx: at, cy: number(y.at(value(member))), r: member.one === mark ? 6 : 3.6 }),
          );
        }
      });
      return { height: box.bottom + 42, nodes };
    },
  };
}

/** Formats the label of a tick. Each label has its own unit, because the values of a logarithmic axis differ by orders of magnitude. */
function compact(metric, value, rateUnit) {
  const short = (scaled) => String(Number(scaled.toPrecision(3)));
  if (rateUnit) {
    const [factor, prefix] = unitOf(PREFIXES, value * 1.0001);
    return `${short(value / factor)} ${prefix}${rateUnit}`;
  }
  if (metric.kind === "amount") return short(value);
  const [factor, unit] = unitOf(TIMES, value * 1.0001);
  return `${short(value / factor)} ${unit}`;
}

/** Groups the families for charts. Families whose names differ only in the last part share a chart, but at most as many as there are colors. */
function pictures() {
  const groups = new Map();
  for (const family of families()) {
    const parts = family.name.split("/");
    const key = JSON.stringify([family.place, parts.length > 1 ? parts.slice(0, -1) : parts]);
    if (!groups.has(key)) groups.set(key, { place: family.place, title: parts.length > 1 ? parts.slice(0, -1).join("/") : family.name, members: [] });
    groups.get(key).members.push(family);
  }
  return [...groups.values()].flatMap((group) => {
    const found = [];
    for (let i = 0; i < group.members.length; i += HUES) found.push({ ...group, members: group.members.slice(i, i + HUES) });
    return found;
  });
}
