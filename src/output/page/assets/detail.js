// The details of one benchmark: its verdict, charts and statistics, and how the verdict came about.

/** Returns the id of a benchmark as nodes, in which all parts but the last are less prominent. */
function parts(id) {
  const cut = id.lastIndexOf("/") + 1;
  return [h("span", { class: "part" }, breakable(id.slice(0, cut))), id.slice(cut)];
}

function verdictLine(one) {
  const found = one.compared && one.compared.change;
  const values = [0, 1].map((i) => valueOf(one, i)).filter(Boolean).map(([, text]) => h("b", null, text));
  const medians = ["candidate", "base"].filter((side) => one[side]).slice(0, 1).map((side) => h("b", null, reading(one.metric, medianOf(one, side))));
  return h("div", { class: "verdict-line" },
    one.verdict && badge(one.verdict),
    one.change !== null && h("span", { class: `large v-${toneOf(one)}` }, change(one.change)),
    found && (isNumber(found[1]) || isNumber(found[2])) && h("span", { class: "faint" }, bounds(found, change)),
    values.length > 0 && h("span", { class: "sides", title: CHANGE_IS }, values[0], " → ", values[1]),
    !values.length && medians.length > 0 && h("span", { class: "sides" }, "median ", medians),
    one.compared && isNumber(one.compared.p) && h("span", { class: "faint" }, `adjusted p ${probability(one.compared.p)}`));
}

const ESTIMATES = [
  ["median", "Median"], ["mean", "Mean"], ["over", "Mean of processes"], ["bca", "Mean, BCa"], ["free", "Median of means"],
  ["slope", "Slope"], ["sd", "Standard deviation"], ["mad", "MAD (scaled)"],
];

function statistics(one) {
  const sides = sidesOf(one);
  if (!sides.length) return null;
  const write = (value) => spent(one.metric, value);
  const estimate = (side, name) => {
    const found = one[side][name];
    return found ? [write(found[0]), " ", h("span", { class: "bounds" }, bounds(found, write))] : "-";
  };
  const row = (label, cell) => [label, ...sides.map((side) => cell(one[side], side))];
  const exact = (value) => (isNumber(value) ? write(value) : "-");
  const rows = [
    ...ESTIMATES.filter(([name]) => sides.some((side) => one[side][name])).map(([name, label]) => row(label, (_, side) => estimate(side, name))),
    row("Smallest, largest", (side) => `${exact(side.min)}, ${exact(side.max)}`),
    ...["5th", "25th", "75th", "95th", "99th"].map((name, i) => row(`${name} percentile`, (side) => exact(side.percentiles[i]))),
    ...(sides.some((side) => isNumber(one[side].error)) ? [row("Standard error of the mean of processes", (side) => exact(side.error))] : []),
    row("Coefficient of variation", (side) => (isNumber(side.cv) ? `${(side.cv * 100).toFixed(2)} %` : "-")),
    ...(sides.some((side) => isNumber(one[side].r2)) ? [row("R² of the slope", (side) => (isNumber(side.r2) ? side.r2.toFixed(6) : "-"))] : []),
    row("Samples, processes", (side) => `${side.samples.toLocaleString("en")}, ${side.processes}`),
    row("Outliers (low severe, mild; high mild, severe)", (side) => side.outliers.join(", ")),
    ...(sides.some((side) => (one[side].fences || []).length === 1)
      ? [row("Fences (severe, mild; mild, severe)", (side) => ((side.fences || []).length === 1 ? side.fences[0].map(write).join(", ") : "-"))] : []),
    ...(one.throughput ? [row("Throughput", (_, side) => throughputText(one, side))] : []),
  ];
  const more = sides.flatMap((side) => (one[side].more || []).map(([label, text]) => [`${label}, ${nameOf(one, side)}`, text]));
  return h("section", { class: "section" }, h("h3", null, "Statistics"),
    h("div", { class: "card" },
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Statistics" }, plainTable("Statistics", ["", ...sides.map((side) => nameOf(one, side))], rows)),
      more.length > 0 && h("div", { class: "scroll" }, plainTable("More", ["", ""], more, "wrap")),
      h("p", { class: "caption" }, `${percent(HEAD.level)} intervals (${sides.map((side) => `${nameOf(one, side)}: ${one[side].intervals}`).join(", ")}).`)));
}

function explanation(one) {
  if (!one.why.length) return null;
  let before = "";
  const lines = one.why.flatMap((entry) => {
    const [word] = DATA.phrases[entry[0]];
    const about = word === before ? "" : word;
    before = word;
    return [h("dt", null, about), h("dd", null, prose(sentence(entry)))];
  });
  return h("section", { class: "section" }, h("h3", null, "How the verdict came about"), h("div", { class: "card" }, h("dl", { class: "why" }, lines)));
}

function chartsOf(one) {
  const family = families().find((known) => known.members.some((member) => member.one === one));
  return [
    changeChart(one), densityChart(one), processesChart(one), orderChart(one), rampChart(one), ecdfChart(one), percentileChart(one), operationsChart(one),
    historyChart(one),
    family && familyChart(family.name || "Parameters", [family], one),
  ];
}

/** Creates all elements of the details of a benchmark. `level` is the level of the heading. */
function sheet(one, level) {
  const failures = ["candidate", "base"].flatMap((side) => (one[side] && one[side].failures ? one[side].failures.map((text) => `${nameOf(one, side)}, ${text}`) : []));
  return [
    h(`h${level}`, { class: "title", tabindex: -1, id: level === 2 ? "title" : null }, parts(one.id)),
    verdictLine(one),
    failures.length > 0 && h("div", { class: "fails" }, failures.slice(0, 5).map((text) => h("p", null, text)), failures.length > 5 && h("p", null, `and ${failures.length - 5} more`)),
    (one.differs || []).map(([fact, base, now]) => h("p", { class: "note" }, `Not comparable, ${fact} differs: ${base} → ${now}`)),
    (one.remarks || []).map((entry) => h("p", { class: "note" }, prose(sentence(entry)))),
    one.runs && h("p", { class: "note" }, `The reference is the mean of runs ${one.runs.map((run) => run ?? "one that is not in this store").join(", ")}; drawn is run ${one.base ? one.base.run : one.runs[0]}.`),
    !sidesOf(one).length && h("p", { class: "note" }, "There are no samples: nothing can be drawn."),
    one.candidate && !one.base && one.verdict && h("p", { class: "note" }, `There is nothing to compare it with: the charts show run ${one.candidate.run} alone.`),
    one.base && !one.candidate && h("p", { class: "note" }, `Run ${HEAD.run} has no samples of it: the charts show run ${one.base.run}.`),
    cards(chartsOf(one), one.id),
    statistics(one),
    explanation(one),
  ];
}

function openDetail(one, focus) {
  view.open = one;
  document.body.classList.add("open");
  const place = view.shown.indexOf(one);
  const step = (by, text, label) => {
    const next = view.shown[place + by];
    return h("button", { type: "button", class: "quiet", disabled: !next, "aria-label": label, onclick: () => next && (location.hash = next.hash) }, text);
  };
  const detail = byId("detail");
  detail.hidden = false;
  detail.setAttribute("aria-labelledby", "title");
  detail.replaceChildren(
    h("div", { class: "crumbs" },
      h("button", { type: "button", class: "quiet back", onclick: closeDetail }, "← All"), h("span", { class: "where" }, one.place), h("span", { class: "spacer" }),
      step(-1, "↑", "Previous benchmark (k)"), step(1, "↓", "Next benchmark (j)"), h("button", { type: "button", class: "quiet", "aria-label": "Close (Escape)", onclick: closeDetail }, "✕")),
    ...sheet(one, 2).flat().filter(Boolean),
  );
  markRow(one);
  window.scrollTo(0, 0);
  if (focus) byId("title").focus({ preventScroll: true });
}

/** Marks the row of the benchmark that is open, and only this row. If `one` is null, no row is marked. */
function markRow(one) {
  for (const row of byId("table").querySelectorAll("tr[aria-current]")) row.removeAttribute("aria-current");
  const row = one && rowFor(one);
  if (!row) return;
  row.setAttribute("aria-current", "true");
  row.scrollIntoView({ block: "nearest" });
}

function closeDetail() {
  const was = view.open;
  view.open = null;
  document.body.classList.remove("open");
  byId("detail").hidden = true;
  byId("detail").replaceChildren();
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  markRow(null);
  const row = was && rowFor(was);
  if (row) row.querySelector("a").focus();
}
