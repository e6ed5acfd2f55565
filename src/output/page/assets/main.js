// Keyboard shortcuts, the theme, the address of the page, and printing. At the end, the page is started.

const THEMES = ["system", "light", "dark"];
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

/** Returns the theme that the reader chose earlier, or null. In browsers without storage for a page from a file, no choice is kept. */
function remembered() {
  try { return localStorage.getItem("perfcheck-theme"); } catch { return null; }
}

function setTheme(theme) {
  view.theme = THEMES.includes(theme) ? theme : "system";
  const dark = view.theme === "dark" || (view.theme === "system" && prefersDark.matches);
  document.documentElement.dataset.theme = dark && !view.printing ? "dark" : "light";
  byId("theme-word").textContent = { system: "System", light: "Light", dark: "Dark" }[view.theme];
  byId("theme").setAttribute("aria-label", `Theme: ${view.theme} (t)`);
  try { localStorage.setItem("perfcheck-theme", view.theme); } catch { /* some browsers have no storage for a page from a file */ }
}

const nextTheme = () => setTheme(THEMES[(THEMES.indexOf(view.theme) + 1) % THEMES.length]);

/** Goes to the next (`by` = 1) or previous (-1) benchmark. It is opened if another one is open. Otherwise its row gets the focus. */
function walk(by) {
  if (view.tab !== "overview" || !view.shown.length) return;
  const focused = document.activeElement.dataset ? document.activeElement.dataset.index : undefined;
  const from = view.open ? view.shown.indexOf(view.open) : view.shown.findIndex((one) => String(one.index) === focused);
  const next = view.shown[Math.min(Math.max(from + by, 0), view.shown.length - 1)];
  if (view.open) {
    if (next !== view.open) location.hash = next.hash;
  } else {
    rowFor(next)?.querySelector("a").focus();
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input");
  if (event.key === "Escape") {
    if (typing && view.words) { byId("filter").value = ""; onFilter(); }
    else if (typing) event.target.blur();
    else if (view.open) closeDetail();
    return;
  }
  if (typing) {
    if (event.key === "Enter" || event.key === "ArrowDown") { walk(1); event.preventDefault(); }
    return;
  }
  const inTable = event.target.closest("#table tbody");
  const actions = {
    "/": () => { showView("overview"); if (view.open && getComputedStyle(byId("overview")).display === "none") closeDetail(); byId("filter").focus(); byId("filter").select(); },
    j: () => walk(1), k: () => walk(-1), t: nextTheme,
    ...(inTable ? { ArrowDown: () => walk(1), ArrowUp: () => walk(-1) } : {}),
  };
  if (!Object.hasOwn(actions, event.key)) return;
  actions[event.key]();
  event.preventDefault();
}

function onFilter() {
  view.words = byId("filter").value;
  showTable();
}

/** Shows the benchmark or the view that the address of the page names. */
function onAddress(focus) {
  const written = location.hash.slice(1);
  let address = written;
  try { address = decodeURIComponent(written); } catch { /* a lone percent sign stands for itself */ }
  const one = BENCHMARKS.find((known) => known.hash === location.hash)
    || BENCHMARKS.find((known) => known.address === address || known.address === written);
  if (one) { showView("overview"); openDetail(one, focus); return; }
  const named = VIEWS.find((known) => addressOf(known) === address.toLowerCase());
  if (view.open) closeDetail();
  if (named) showView(named.name);
}

/** The largest number of benchmarks that are printed in full. A document with all benchmarks could have thousands of pages. */
const SHEETS = 60;

function beforePrint() {
  view.printing = true;
  addRows(view.shown.length);
  setTheme(view.theme);
  for (const known of VIEWS) {
    const panel = byId(`view-${known.name}`);
    if (known.name !== "overview" && !panel.childElementCount) panel.append(...known.make());
  }
  const wanted = view.open ? [view.open] : view.shown.slice(0, SHEETS);
  const printed = byId("printed");
  printed.replaceChildren(...wanted.map((one) => h("section", { class: "sheet" }, h("p", { class: "faint" }, one.place), ...sheet(one, 2).flat().filter(Boolean))));
  if (view.shown.length > wanted.length && !view.open) printed.append(h("p", null, `${wanted.length} of ${view.shown.length} benchmarks are printed in full: filter the table to choose others.`));
  // The browser has not yet applied the styles for printing, but a chart can only be drawn if it is visible and has a width.
  printed.style.display = "block";
  for (const panel of VIEWS) byId(`view-${panel.name}`).style.display = "block";
  for (const figure of document.querySelectorAll("figure.card")) if (figure.paint) figure.paint();
}

function afterPrint() {
  view.printing = false;
  setTheme(view.theme);
  byId("printed").replaceChildren();
  byId("printed").style.display = "";
  for (const panel of VIEWS) byId(`view-${panel.name}`).style.display = "";
}

setTheme(remembered());
prefersDark.addEventListener("change", () => setTheme(view.theme));
view.reach = barReach();
if (!BENCHMARKS.some((one) => one.verdict)) view.sort = "name";
showHero();
showChips();
showTabs();
showTable();
showOmissions();
showView("overview");
byId("theme").addEventListener("click", nextTheme);
byId("filter").addEventListener("input", onFilter);
byId("more").addEventListener("click", () => addRows(view.shown.length));
nearEnd.observe(byId("more"));
byId("table").addEventListener("click", (event) => {
  const row = event.target.closest("tbody tr[data-index]");
  // A link opens the benchmark itself, and readers who select text do not want to open it.
  if (row && !event.target.closest("a") && !String(getSelection())) location.hash = BENCHMARKS[row.dataset.index].hash;
});
addEventListener("keydown", onKey);
addEventListener("hashchange", () => onAddress(true));
addEventListener("beforeprint", beforePrint);
addEventListener("afterprint", afterPrint);
onAddress(false);
