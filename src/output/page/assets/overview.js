// The table of all benchmarks, its filter and order, and the headline above it.

/** The number of rows that are created at a time, because thousands are slow to lay out. More follow when the reader scrolls near the end. */
const ROWS_AT_ONCE = 120;

const view = { words: "", verdicts: new Set(), sort: "verdict", ascending: true, rows: 0, shown: [] };

const badge = (verdict) => {
  const { symbol, tone } = VERDICTS[verdict] || { symbol: "·", tone: "calm" };
  return h("span", { class: `badge v-${tone}` }, h("span", { class: "symbol", "aria-hidden": "true" }, symbol), h("span", { class: "word" }, verdict || "measured"));
};

/** Returns the largest change that the bars can show. Most intervals fit into it, and so does the largest change unless it dwarfs all others. */
function barReach() {
  const at = (values, share) => (values.length ? values.sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] : 0);
  const compared = BENCHMARKS.filter((one) => one.change !== null);
  const sizes = compared.map((one) => Math.abs(one.change));
  const ends = compared.flatMap((one) => (one.compared ? one.compared.change.slice(1).filter(isNumber).map(Math.abs) : []));
  const usual = Math.max(at(sizes, 0.9), at(ends, 0.75), 0.025) * 1.15;
  const largest = at(sizes, 1) * 1.12;
  return largest <= usual * 2.5 ? Math.max(usual, largest) : usual;
}

/** Draws the bar of a benchmark: its change with the interval, on an axis with zero in the middle, and a band for the noise threshold. */
function changeBar(one, reach) {
  const width = 170, height = 30, middle = height / 2;
  if (one.change === null) return null;
  const at = scale(-reach, reach, 6, width - 6);
  const clamp = (value) => Math.min(Math.max(value, -reach), reach);
  const [estimate, lower, upper] = (one.compared && one.compared.change) || [one.change];
  const from = at(clamp(isNumber(lower) ? lower : one.compared ? -reach : estimate));
  const to = at(clamp(isNumber(upper) ? upper : one.compared ? reach : estimate));
  const band = threshold(one);
  const beyond = Math.abs(estimate) > reach;
  const dot = at(clamp(estimate));
  return s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    s("rect", { class: "band", x: number(at(clamp(-band))), y: 0, width: number(at(clamp(band)) - at(clamp(-band))), height }),
    s("path", { class: "zero", d: `M${at(0)} 0v${height}` }),
    s("path", { class: `bar-line s-${toneOf(one)}`, d: `M${number(from)} ${middle}H${number(to)}` }),
    [lower, upper].some(isNumber) && [[lower, from], [upper, to]].filter(([bound]) => isNumber(bound) && Math.abs(bound) <= reach)
      .map(([, end]) => s("path", { class: `bar-line s-${toneOf(one)}`, d: `M${number(end)} ${middle - 6}v12` })),
    [lower, upper].some(isNumber) && [[lower, from, -1], [upper, to, 1]].filter(([bound, , side]) => !(isNumber(bound) && Math.abs(bound) <= reach) && !(beyond && estimate * side > 0))
      .map(([, end, side]) => goesOn(toneOf(one), end, middle, side)),
    beyond
      ? s("path", { class: `f-${toneOf(one)}`, d: estimate > 0 ? `M${number(dot - 5)} ${middle - 6}l9 6l-9 6z` : `M${number(dot + 5)} ${middle - 6}l-9 6l9 6z` })
      : s("circle", { class: `bar-dot f-${toneOf(one)}`, cx: number(dot), cy: middle, r: 3.2 }));
}

/** Creates the scale above the bars, with the changes at both ends and 0 in the middle. */
const barScale = () => h("span", { class: "ends" }, [-view.reach, 0, view.reach].map((end) => h("span", null, end ? change(end) : "0")));

const CHANGE_IS = "The value of the base, mostly a low quantile of its samples, and that value with the change that was found.";

const COLUMNS = [
  { name: "verdict", title: "Verdict", class: "verdict", key: (one) => [RANK.has(one.verdict) ? RANK.get(one.verdict) : 99, -(one.change ?? -Infinity)], cell: (one) => badge(one.verdict) },
  { name: "name", title: "Benchmark", class: "name", key: (one) => [one.place, one.id], cell: nameCell },
  { name: "median", title: "Median", class: "time typical number", descends: true, key: (one) => [medianOf(one, "candidate") ?? -1], cell: (one) => medianText(one, "candidate") },
  { name: "before", title: "Before", hint: CHANGE_IS, class: "time before number", descends: true, key: (one) => [(valueOf(one, 0) || [-1])[0]], cell: (one) => (valueOf(one, 0) || [0, "–"])[1] },
  { name: "after", title: "After", hint: CHANGE_IS, class: "time number", descends: true, key: (one) => [(valueOf(one, 1) || [medianOf(one, "candidate") ?? -1])[0]], cell: (one) => (valueOf(one, 1) || [0, medianText(one, "candidate")])[1] },
  { name: "change", title: "Change", hint: CHANGE_IS, class: "delta number", descends: true, key: (one) => [one.change ?? -Infinity], cell: (one) => (one.change === null ? "" : h("span", { class: `v-${toneOf(one)}` }, change(one.change))) },
  { name: "bar", title: "Its interval", class: "bar", head: barScale, cell: (one) => changeBar(one, view.reach) },
  { name: "rate", title: "Throughput", class: "rate number", descends: true, key: (one) => [(rates(one, "candidate")[0] || { value: -1 }).value], cell: (one) => throughputText(one, "candidate") },
];

const medianText = (one, side) => {
  const median = medianOf(one, side);
  return median === null ? "–" : reading(one.metric, median);
};

function nameCell(one) {
  const again = one.candidate && one.candidate.run !== HEAD.run && h("span", { class: "place" }, `measured again in turn in run ${one.candidate.run}`);
  const costly = one.function && h("span", { class: "place" }, "in ", breakable(one.function));
  return h("a", { href: one.hash, "data-index": one.index }, breakable(one.id), h("span", { class: "place" }, one.place), costly, again);
}

/** Returns the columns that have a value for at least one benchmark. */
function columns() {
  const any = (test) => BENCHMARKS.some(test);
  const wanted = {
    verdict: any((one) => one.verdict), median: !any((one) => valueOf(one, 1)),
    before: any((one) => valueOf(one, 0)), after: any((one) => valueOf(one, 1)), change: any((one) => one.change !== null),
    bar: any((one) => one.change !== null), rate: any((one) => throughputText(one, "candidate")),
  };
  return COLUMNS.filter((column) => wanted[column.name] !== false);
}

const collator = new Intl.Collator("en", { numeric: true });

function compare(a, b) {
  for (let i = 0; i < a.length; i++) {
    const found = typeof a[i] === "string" ? collator.compare(a[i], b[i]) : a[i] - b[i];
    if (found) return found;
  }
  return 0;
}

/** Returns the benchmarks that match the text of the filter and the chosen verdicts, in the order that the reader chose. */
function selected() {
  const words = view.words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = BENCHMARKS.filter((one) => (!view.verdicts.size || view.verdicts.has(one.verdict)) && words.every((word) => one.words.includes(word)));
  const column = COLUMNS.find((known) => known.name === view.sort);
  const keyed = found.map((one) => [column.key(one), one]);
  const sign = view.ascending ? 1 : -1;
  keyed.sort((a, b) => sign * compare(a[0], b[0]) || a[1].index - b[1].index);
  return keyed.map(([, one]) => one);
}

function rowOf(one, shownColumns) {
  return h("tr", { "data-index": one.index, "aria-current": one === view.open ? "true" : null },
    shownColumns.map((column) => h("td", { class: column.class }, column.cell(one))));
}

/** Creates further rows, until the table has `count` rows or all rows. */
function addRows(count) {
  const body = byId("table").tBodies[0];
  const shownColumns = columns();
  body.append(...view.shown.slice(view.rows, count).map((one) => rowOf(one, shownColumns)));
  view.rows = Math.min(Math.max(view.rows, count), view.shown.length);
  const rest = view.shown.length - view.rows;
  const more = byId("more");
  more.hidden = !rest;
  more.textContent = `${rest.toLocaleString("en")} more below: show all`;
}

/** Returns the row of a benchmark, which is created if the table does not have it yet. Returns null if the filter hides the benchmark. */
function rowFor(one) {
  const place = view.shown.indexOf(one);
  if (place < 0) return null;
  if (place >= view.rows) addRows(place + ROWS_AT_ONCE);
  return byId("table").querySelector(`tr[data-index="${one.index}"]`);
}

function showTable(focusOn) {
  view.shown = selected();
  view.rows = 0;
  const shownColumns = columns();
  const head = h("tr", null, shownColumns.map((column) => {
    const sorted = view.sort === column.name;
    const aria = sorted ? (view.ascending ? "ascending" : "descending") : null;
    const label = [h("span", { class: "label" }, column.title), column.key && h("span", { class: "arrow", "aria-hidden": "true" }, sorted ? (view.ascending ? "↑" : "↓") : "")];
    return h("th", { scope: "col", class: column.class, "aria-sort": aria },
      column.key ? h("button", { type: "button", title: column.hint, "data-sort": column.name, onclick: () => sortBy(column) }, label) : [h("span", { class: "title-of" }, column.title), column.head && column.head()]);
  }));
  const body = h("tbody", null);
  if (!view.shown.length) body.append(h("tr", null, h("td", { class: "empty", colspan: shownColumns.length }, BENCHMARKS.length ? "No benchmark fits." : HEAD.incomplete ? "The run was interrupted before anything was measured." : "The run has no benchmarks.")));
  const table = byId("table");
  table.setAttribute("aria-rowcount", view.shown.length + 1);
  table.replaceChildren(h("caption", { class: "hidden" }, "Benchmarks"), h("thead", null, head), body);
  addRows(ROWS_AT_ONCE);
  byId("shown").textContent = view.shown.length === BENCHMARKS.length ? counted(BENCHMARKS.length, "benchmark") : `${view.shown.length.toLocaleString("en")} of ${counted(BENCHMARKS.length, "benchmark")}`;
  if (focusOn) table.querySelector(focusOn)?.focus();
}

/** Creates more rows when the reader scrolls close to the end of the table. */
const nearEnd = new IntersectionObserver((entries) => {
  if (!entries.some((entry) => entry.isIntersecting) || view.printing) return;
  addRows(view.rows + ROWS_AT_ONCE);
  // The observer reports only changes. If the button at the end is still in sight, observing it anew makes the observer report it again.
  nearEnd.unobserve(byId("more"));
  nearEnd.observe(byId("more"));
}, { rootMargin: "800px" });

function sortBy(column) {
  view.ascending = view.sort === column.name ? !view.ascending : !column.descends;
  view.sort = column.name;
  showTable(`[data-sort="${column.name}"]`);
}

function showChips() {
  const chips = HEAD.verdicts.filter(([, count]) => count).map(([word, count]) => {
    const { symbol, tone } = VERDICTS[word];
    return h("button", {
      type: "button", class: `chip v-${tone}`, "aria-pressed": String(view.verdicts.has(word)), "data-verdict": word,
      onclick: (event) => {
        if (!view.verdicts.delete(word)) view.verdicts.add(word);
        event.currentTarget.setAttribute("aria-pressed", String(view.verdicts.has(word)));
        showTable();
      },
    }, h("span", { class: "symbol", "aria-hidden": "true" }, symbol), word, h("span", { class: "count" }, count.toLocaleString("en")));
  });
  byId("chips").replaceChildren(...chips);
}

/** Returns the headline of the page, which sums up the verdicts of all benchmarks. */
function headline() {
  const count = new Map(HEAD.verdicts);
  const all = BENCHMARKS.length;
  const of = (word) => count.get(word) || 0;
  if (!all) return HEAD.incomplete ? "Interrupted before anything was measured" : "No benchmarks";
  if (!HEAD.verdicts.some(([, n]) => n)) return `${counted(all, "benchmark")} measured`;
  const bad = ["regressed", "failed", "suspect"].filter(of).map((word) => `${of(word).toLocaleString("en")} ${word}`);
  if (bad.length) return `${bad.join(", ")} of ${counted(all, "benchmark")}`;
  if (of("new") === all) return `${counted(all, "benchmark")}, all new`;
  const undecided = of("inconclusive") + of("incomparable");
  const slower = HEAD.look_slower ? `, ${HEAD.look_slower.toLocaleString("en")} of them ${HEAD.look_slower === 1 ? "looks" : "look"} slower` : "";
  const rest = undecided ? `, ${undecided.toLocaleString("en")} undecided${slower}` : "";
  if (of("improved")) return `${counted(of("improved"), "benchmark")} improved, none shown to be slower${rest}`;
  return of("unchanged") ? `${of("unchanged").toLocaleString("en")} of ${counted(all, "benchmark")} unchanged, none shown to be slower${rest}` : `Nothing decided about ${counted(all, "benchmark")}${slower.replace(" of them", "")}`;
}

function showHero() {
  const run = HEAD.runs[0] || {};
  const commit = run.commit && [`, commit `, h("b", null, run.commit.slice(0, 10)), run.branch ? ` on ${run.branch}` : "", run.dirty ? " with changes" : ""];
  byId("hero").replaceChildren();
  fill(byId("hero"), null, [
    h("h1", null, headline()),
    h("p", { class: "about" }, h("b", null, `Run ${HEAD.run}`), HEAD.incomplete && ", incomplete", HEAD.reference && [" compared with ", h("b", null, prose(HEAD.reference))], commit, `, ${(run.started || "").slice(0, 10)}`, h("br"), HEAD.workspace, HEAD.how && `; verdicts: ${HEAD.how}`),
    HEAD.incomplete && h("p", { class: "remark" }, `${HEAD.incomplete[0].toUpperCase()}${HEAD.incomplete.slice(1)}.`.replace("..", ".")),
    HEAD.exceeded.map((text) => h("p", { class: "remark worse" }, prose(text))),
    HEAD.warnings.map(([fact, before, after]) => h("p", { class: "remark" }, `The sides differ in ${fact}: ${before} → ${after}`)),
    HEAD.remarks.map((text) => h("p", { class: "remark" }, prose(text))),
    HEAD.notes.map((text) => h("p", { class: "remark calm" }, prose(text))),
    HEAD.code.length > 0 && h("details", { class: "remark calm" }, h("summary", null, "What differs in the machine code"), HEAD.code.map((text) => h("p", null, prose(`${text[0].toUpperCase()}${text.slice(1)}.`)))),
    strip(),
  ]);
}

/** Explains below the table what changes and bars mean, and says which data are not on the page and where to find them. */
function showOmissions() {
  const compared = BENCHMARKS.some((one) => one.change !== null) && `${CHANGE_IS} Bars: its intervals, shaded: within the noise threshold.`;
  byId("omissions").replaceChildren(...[compared, ...HEAD.omissions].filter(Boolean).map((text) => h("p", null, prose(text))));
}

/** Draws the changes of all benchmarks on one axis. Each benchmark is a dot, and dots at the same place are stacked. */
function strip() {
  const found = BENCHMARKS.filter((one) => one.change !== null);
  if (found.length < 4) return null;
  const svg = s("svg", { role: "img", "aria-label": `All changes: from ${change(Math.min(...found.map((one) => one.change)))} to ${change(Math.max(...found.map((one) => one.change)))}. ${HEAD.verdicts.filter(([, n]) => n).map(([word, n]) => `${n} ${word}`).join(", ")}.` });
  const box = h("div", { class: "plot" }, svg);
  box.paint = () => {
    const width = Math.floor(box.clientWidth);
    if (!width || svg.dataset.width === String(width)) return;
    svg.dataset.width = width;
    const reach = Math.max(...found.map((one) => Math.abs(one.change)), 0.02);
    const low = Math.min(0, ...found.map((one) => one.change)) - reach * 0.06, high = Math.max(0, ...found.map((one) => one.change)) + reach * 0.06;
    const x = changeAxis(Math.min(low, -0.03), Math.max(high, 0.03), 8, width - 8, width / 110);
    const step = found.length > 400 ? 5 : 9;
    const stacks = new Map();
    const dots = [...found].sort((a, b) => a.change - b.change).map((one) => {
      const slot = Math.round(x.at(one.change) / step);
      const level = stacks.get(slot) || 0;
      stacks.set(slot, level + 1);
      return { one, at: slot * step, level };
    });
    const tallest = Math.max(...stacks.values());
    const rise = Math.min(step, 96 / tallest);
    const bottom = Math.max(30, tallest * rise + 8);
    const band = threshold(found.find((one) => one.compared) || {});
    svg.setAttribute("viewBox", `0 0 ${width} ${bottom + 24}`);
    svg.replaceChildren(
      s("rect", { class: "band", x: number(x.at(-band)), width: number(x.at(band) - x.at(-band)), y: 0, height: bottom }),
      frame({ left: 0, right: width, top: 0, bottom, margin: 0 }, x, null),
      s("path", { class: "zero", d: `M${number(x.at(0))} 0V${bottom}` }),
      ...dots.map(({ one, at, level }) => s("circle", {
        class: `pick f-${toneOf(one)}`, cx: at, cy: number(bottom - rise * (level + 0.5) - 1), r: step > 6 ? 3.9 : 2.1, onclick: () => { location.hash = one.hash; },
      }, s("title", null, `${one.id}: ${change(one.change)}, ${one.verdict || "measured"}`))),
    );
  };
  observer.observe(box);
  return h("div", { class: "strip" }, box, h("p", { class: "caption" }, "Each dot is a benchmark by its change against the reference. Shaded: within the noise threshold."));
}
