// The other views of the page: the curves of families, a grid of the benchmarks, and the environment in which the runs were measured.

function curvesView() {
  const found = pictures();
  if (!found.length) return null;
  return () => [
    h("h2", null, "Curves"), h("p", { class: "lead" }, "Benchmarks whose ids are alike but for a number at the end, over that number."),
    cards(found.map((group) => familyChart(group.title || group.place, group.members, null)), "curve"),
  ];
}

/** Arranges the benchmarks in grids. The last part of an id is the column, and the parts before it are the row. */
function grids() {
  const found = new Map();
  for (const one of BENCHMARKS) {
    const parts = one.id.split("/");
    if (parts.length < 2) continue;
    const key = JSON.stringify([one.place, parts.length, parts[0]]);
    if (!found.has(key)) found.set(key, { place: one.place, name: parts[0], columns: new Map(), rows: new Map() });
    const grid = found.get(key);
    const [row, column] = [parts.slice(1, -1).join("/") || parts[0], parts.at(-1)];
    grid.columns.set(column, true);
    if (!grid.rows.has(row)) grid.rows.set(row, new Map());
    grid.rows.get(row).set(column, one);
  }
  return [...found.values()].filter((grid) => grid.columns.size > 1 && grid.rows.size * grid.columns.size > 2);
}

const GRID_VALUES = [
  ["median", "Median", (one) => medianText(one, one.candidate ? "candidate" : "base")],
  ["change", "Change", (one) => (one.change === null ? "–" : h("span", { class: `v-${toneOf(one)}` }, change(one.change)))],
  ["verdict", "Verdict", (one) => badge(one.verdict)],
  ["rate", "Throughput", (one) => throughputText(one, one.candidate ? "candidate" : "base") || "–"],
];

function pivotView() {
  const all = grids();
  if (!all.length) return null;
  const usable = GRID_VALUES.filter(([name]) => (name === "change" ? BENCHMARKS.some((one) => one.change !== null) : name === "rate" ? BENCHMARKS.some((one) => one.throughput) : name !== "verdict" || BENCHMARKS.some((one) => one.verdict)));
  let [, , cell] = usable[0];
  const body = h("div", null);
  const paint = () => body.replaceChildren(...all.map((grid) => {
    const columns = [...grid.columns.keys()].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const rows = [...grid.rows].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
    return h("section", { class: "section" }, h("h3", null, grid.name, " ", h("span", { class: "faint" }, grid.place)),
      h("div", { class: "card" }, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": grid.name },
        plainTable(grid.name, ["", ...columns], rows.map(([name, cells]) => [name, ...columns.map((column) => {
          const one = cells.get(column);
          return one ? h("a", { href: one.hash, class: "cell" }, cell(one)) : "";
        })])))));
  }));
  const choice = h("div", { class: "chips", role: "group", "aria-label": "What the cells say" }, usable.map(([name, title, write], index) => h("button", {
    type: "button", class: "chip", "aria-pressed": String(index === 0), "data-value": name,
    onclick: (event) => {
      cell = write;
      for (const other of event.currentTarget.parentNode.children) other.setAttribute("aria-pressed", String(other === event.currentTarget));
      paint();
    },
  }, title)));
  return () => { paint(); return [h("h2", null, "Grid"), h("p", { class: "lead" }, "The same benchmarks by the parts of their ids: the last part across, the others down."), choice, body]; };
}

function environmentView() {
  if (!HEAD.environment.length) return null;
  const runs = HEAD.runs;
  const rows = HEAD.environment.map((line) => {
    const differs = line.fact && new Set(line.values).size > 1;
    const row = [[line.name, differs ? h("span", { class: line.blocks ? "v-bad" : "v-warn" }, line.blocks ? " ≠ differs" : " ≠ differs, may matter") : ""], ...line.values.map((value) => value || "–")];
    row.differs = differs;
    return row;
  });
  const differing = rows.filter((row) => row.differs).length;
  return () => [
    h("h2", null, "Environment"),
    h("p", { class: "lead" }, runs.length < 2 ? "Where and how the run was measured." : differing ? `${counted(differing, "fact")} ${differing === 1 ? "is" : "are"} not the same for all runs.` : "All facts that matter are the same for all runs."),
    h("div", { class: "card" }, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Environment" }, plainTable("Environment", ["", ...runs.map((run) => `run ${run.id}`)], rows, "wrap"))),
  ];
}

const VIEWS = [
  { name: "overview", title: "Benchmarks", make: () => null },
  { name: "curves", title: "Curves", make: curvesView() },
  { name: "pivot", title: "Grid", make: pivotView() },
  { name: "environment", title: "Environment", make: environmentView() },
].filter((known) => known.make);

function showView(name, focus) {
  for (const known of VIEWS) {
    const panel = byId(`view-${known.name}`);
    const chosen = known.name === name;
    panel.hidden = !chosen;
    if (chosen && known.name !== "overview" && !panel.childElementCount) panel.append(...known.make());
    const tab = byId(`tab-${known.name}`);
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen && focus) tab.focus();
  }
  view.tab = name;
}

/** Returns the name of a view in the address of the page. */
const addressOf = (known) => (known.name === "pivot" ? "grid" : known.name);

/** Writes the view, or the benchmark that is open in it, into the address of the page. */
function writeAddress() {
  const known = VIEWS.find(({ name }) => name === view.tab);
  const address = known.name !== "overview" ? `#${addressOf(known)}` : view.open ? view.open.hash : "";
  history.replaceState(null, "", location.pathname + location.search + address);
}

function showTabs() {
  byId("tabs").replaceChildren(...VIEWS.map((known) => {
    byId(`view-${known.name}`).setAttribute("aria-labelledby", `tab-${known.name}`);
    return h("button", {
      type: "button", role: "tab", id: `tab-${known.name}`, "aria-controls": `view-${known.name}`,
      onclick: () => { if (known.name === "overview" && view.tab === "overview" && view.open) closeDetail(); showView(known.name); writeAddress(); window.scrollTo(0, 0); },
    }, known.title);
  }));
  byId("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = VIEWS.findIndex((known) => known.name === view.tab);
    showView(VIEWS[(at + step + VIEWS.length) % VIEWS.length].name, true);
    writeAddress();
    event.preventDefault();
  });
}
