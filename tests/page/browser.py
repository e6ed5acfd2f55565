#!/usr/bin/python3
"""Tests the page in a headless Chromium: its console, requests, keyboard shortcuts, sizes and contrast, and hostile names.

  browser.py BINARY                      checks; BINARY is cargo-perfcheck
  browser.py BINARY --screenshots DIR    checks, and takes the pictures of the documentation

Needs chromium, chromedriver and selenium (Debian: chromium chromium-driver python3-selenium). The runs on the pages come from store.py.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HERE = pathlib.Path(__file__).resolve().parent
WIDTHS = (400, 1000, 1600)
HOME = tempfile.TemporaryDirectory(prefix="page-")
ROOT = pathlib.Path(HOME.name)
BINARY = None

# A script that runs in the page. It returns each text whose contrast with the background is less than WCAG 2.1 AA demands, with the contrast.
CONTRAST = r"""
const parse = (text) => { const m = text.match(/[\d.]+/g).map(Number); return [m[0], m[1], m[2], m.length > 3 ? m[3] : 1]; };
const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = (node) => {
  const layers = [];
  for (let at = node; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
};
const bad = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let seen = 0;
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE", "NOSCRIPT", "TITLE"].includes(node.tagName)) continue;
  if (!node.getClientRects().length || node.closest(".hidden")) continue;
  const style = getComputedStyle(node);
  if (style.visibility !== "visible") continue;
  seen += 1;
  const svg = node instanceof SVGElement;
  const ground = behind(svg ? node.closest("svg").parentElement : node);
  const colour = over(parse(svg ? style.fill : style.color), ground);
  const [a, b] = [light(colour), light(ground)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)} ${node.tagName}.${node.getAttribute("class")}: ${walker.currentNode.data.trim().slice(0, 40)}`);
}
return [seen, [...new Set(bad)].slice(0, 12)];
"""

# A script that runs in the page. It returns charts that are missing, empty or larger than their boxes, and texts that extend beyond their chart.
BOXES = r"""
const bad = [];
let charts = 0;
for (const svg of document.querySelectorAll(".plot svg")) {
  const box = svg.closest(".plot"), outer = (svg.closest("figure") || box).getBoundingClientRect(), r = svg.getBoundingClientRect();
  if (!box.clientWidth) continue;
  charts += 1;
  const name = svg.closest("figure")?.dataset.chart || "strip";
  if (!svg.children.length || r.height < 30) bad.push(`${name}: empty`);
  if (r.left < outer.left - 0.5 || r.right > outer.right + 0.5 || r.top < outer.top - 0.5 || r.bottom > outer.bottom + 0.5) bad.push(`${name}: larger than its box`);
  if (!svg.getAttribute("aria-label") || svg.getAttribute("role") !== "img") bad.push(`${name}: has no text`);
  if (/NaN|Infinity|undefined/.test(svg.outerHTML)) bad.push(`${name}: is not a number`);
  for (const node of svg.querySelectorAll("text, path, circle, rect")) {
    const t = node.getBoundingClientRect();
    const slack = node.tagName === "text" ? 1 : 4;
    if (t.width + t.height > 0 && (t.left < outer.left - slack || t.right > outer.right + slack || t.top < r.top - slack - 2 || t.bottom > r.bottom + slack)) {
      bad.push(`${name}: ${node.tagName} ${node.textContent.slice(0, 30)} leaves the picture`);
    }
  }
  const texts = [...svg.querySelectorAll("text")].map((node) => [node.textContent, node.getBoundingClientRect()]);
  for (let i = 0; i < texts.length; i++) for (let k = i + 1; k < texts.length; k++) {
    const [a, b] = [texts[i][1], texts[k][1]];
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3) bad.push(`${name}: "${texts[i][0]}" and "${texts[k][0]}" overlap`);
  }
}
return [charts, [...new Set(bad)].slice(0, 12), document.documentElement.scrollWidth - document.documentElement.clientWidth];
"""


def perfcheck(store, *words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PERFCHECK_")}
    environment |= {
        "PERFCHECK_STORE": str(ROOT / f"{store}.db"), "PERFCHECK_CACHE": str(ROOT / "cache"),
        "HOME": str(ROOT),
        "CARGO_HOME": os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo")),
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup")),
    }
    done = subprocess.run([BINARY, "perfcheck", *words], cwd=ROOT / "text-index", env=environment, capture_output=True, text=True)
    # The exit code is 1 if a benchmark regressed, as some benchmarks of the stored runs do.
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def make_pages():
    package = ROOT / "text-index"
    (package / "src").mkdir(parents=True)
    (package / "src/lib.rs").touch()
    (package / "Cargo.toml").write_text('[package]\nname = "text-index"\nversion = "0.1.0"\nedition = "2024"\n\n[workspace]\n')
    for kind in (["story"], ["cases"], ["many", "2000", "2", "20"]):
        if kind[0] == "many":
            # Use fewer resamples to save time, because no test looks at the intervals of this page.
            with (package / "Cargo.toml").open("a") as manifest:
                manifest.write("\n[workspace.metadata.perfcheck]\nresamples = 1000\n")
        exported = ROOT / f"{kind[0]}.jsonl"
        exported.write_bytes(subprocess.run([sys.executable, HERE / "store.py", *kind], check=True, capture_output=True).stdout)
        perfcheck(kind[0], "store", "import", str(exported))
        perfcheck(kind[0], "report", "before", "after", "--report", f"html={ROOT / kind[0]}.html")
        exported.unlink()
    # Make a page on which the resampled changes of the mean spread ten times as wide as the interval that the verdict rests on.
    story = (ROOT / "story.html").read_text()
    data = re.search(r'id="data">(.*?)</script>', story, re.S)
    wide = json.loads(data[1])
    for one in wide["benchmarks"]:
        if one.get("resampled"):
            one["compared"] |= {"change": [0.167, 0.143, 0.191], "median": [0.16, 0.1, 0.22], "mean": [0.2, -0.2, 0.6], "threshold": 0.02}
            one["resampled"]["range"] = [-0.2, 0.6]
    (ROOT / "wide.html").write_text(story[: data.start(1)] + json.dumps(wide).replace("<", "\\u003c") + story[data.end(1):])
    empty = (ROOT / "cases.html").read_text()
    data = re.search(r'id="data">(.*?)</script>', empty, re.S)
    nothing = json.loads(data[1])
    nothing["benchmarks"] = []
    nothing["head"]["verdicts"] = []
    for name in ("empty", "interrupted"):
        nothing["head"]["incomplete"] = "run 7 is incomplete" if name == "interrupted" else None
        (ROOT / f"{name}.html").write_text(empty[: data.start(1)] + json.dumps(nothing).replace("<", "\\u003c") + empty[data.end(1):])


class Page(unittest.TestCase):
    browser = None

    @classmethod
    def setUpClass(cls):
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--lang=en"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def setUp(self):
        self.open("story")
        self.browser.execute_script("localStorage.clear()")

    def tearDown(self):
        """Checks after each test that the console is empty and that the page has made no request beyond its own file."""
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser")], [])
        asked = set()
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.add(message["params"]["request"]["url"].split("#")[0])
        pages = {(ROOT / f"{name}.html").as_uri() for name in ("story", "cases", "many", "empty", "interrupted", "wide")}
        self.assertEqual({url for url in asked if not url.startswith(("blob:", "about:"))} - pages, set())

    def open(self, page, address="", width=1280, theme="light"):
        self.size(width)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
        self.browser.get("about:blank")
        self.browser.get((ROOT / f"{page}.html").as_uri() + address)
        self.settle()

    def size(self, width, height=1000):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def settle(self):
        """Waits until the charts have been drawn for their current width."""
        self.browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def run_script(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def press(self, *keys):
        self.browser.switch_to.active_element.send_keys(*keys)
        self.settle()

    def names(self):
        return self.run_script("return [...document.querySelectorAll('#table tbody a')].map((a) => a.firstChild.parentNode.innerText.split('\\n')[0])")

    def focused(self):
        return self.run_script("const at = document.activeElement; return at.id || at.dataset.sort || at.dataset.index || at.tagName")

    def links(self, page):
        self.open(page)
        return self.run_script("return [...document.querySelectorAll('#table tbody a')].map((a) => a.getAttribute('href'))")

    def test_the_filter_works_by_keyboard(self):
        everything = self.names()
        self.assertEqual(len(everything), 24)
        self.press("/")
        self.assertEqual(self.focused(), "filter")
        self.press("JSON parse")
        self.assertEqual({name.rsplit("/", 1)[0] for name in self.names()}, {"parse/json"})
        self.assertEqual(self.run_script("return document.getElementById('shown').textContent"), "5 of 24 benchmarks")
        self.press(Keys.ESCAPE)
        self.assertEqual(self.names(), everything)
        self.press("no such thing")
        self.assertEqual(self.names(), [])
        self.assertIn("No benchmark fits", self.run_script("return document.getElementById('table').innerText"))

    def test_chips_show_single_verdicts(self):
        chip = self.browser.find_element(By.CSS_SELECTOR, "[data-verdict=improved]")
        chip.send_keys(Keys.ENTER)
        self.assertEqual(chip.get_attribute("aria-pressed"), "true")
        self.assertEqual(sorted(self.names()), ["index/insert/100", "index/insert/1000", "index/insert/10000"])
        chip.send_keys(Keys.SPACE)
        self.assertEqual(len(self.names()), 24)

    def test_headers_sort_by_keyboard(self):
        def sorted_by(column):
            return self.run_script("const th = document.querySelector(`[data-sort=${arguments[0]}]`).parentNode; return th.getAttribute('aria-sort')", column)
        self.browser.find_element(By.CSS_SELECTOR, "[data-sort=name]").send_keys(Keys.ENTER)
        names = self.names()
        self.assertEqual((sorted_by("name"), self.focused()), ("ascending", "name"))
        self.assertLess(names.index("index/insert/1000"), names.index("index/insert/10000"))
        self.press(Keys.ENTER)
        self.assertEqual((sorted_by("name"), self.names()), ("descending", names[::-1]))
        self.browser.find_element(By.CSS_SELECTOR, "[data-sort=change]").send_keys(Keys.SPACE)
        self.assertEqual(sorted_by("change"), "descending")
        self.assertEqual(sorted_by("name"), None)
        self.assertEqual(self.names()[0], "parse/json/65536")

    def test_keys_walk_open_and_close(self):
        self.press("j")
        first = self.focused()
        self.press("j")
        self.assertNotEqual(self.focused(), first)
        self.press("k")
        self.assertEqual(self.focused(), first)
        self.press(Keys.ARROW_DOWN)
        second = self.focused()
        self.press(Keys.ENTER)
        title = lambda: self.browser.find_element(By.ID, "title").text
        opened = title()
        self.assertEqual(self.focused(), "title")
        self.press("j")
        self.assertNotEqual(title(), opened)
        self.press("k")
        self.assertEqual(title(), opened)
        self.assertIn(opened.split("/")[-1], self.run_script("return decodeURIComponent(location.hash)"))
        self.press(Keys.ESCAPE)
        self.assertEqual(self.focused(), second)
        self.assertEqual(self.run_script("return document.getElementById('detail').hidden"), True)

    def test_tabs_and_theme_work_by_keyboard(self):
        self.browser.find_element(By.ID, "tab-overview").send_keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.focused(), "tab-curves")
        self.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        self.assertEqual(self.focused(), "tab-environment")
        self.assertEqual(self.run_script("return [...document.querySelectorAll('.view')].filter((view) => !view.hidden).map((view) => view.id)"), ["view-environment"])
        theme = lambda: self.run_script("return document.documentElement.dataset.theme")
        self.assertEqual(theme(), "light")
        self.press("t", "t")
        self.assertEqual(theme(), "dark")
        self.open("story", theme="dark")
        self.run_script("document.getElementById('theme').focus()")
        self.press(Keys.ENTER)
        self.press(Keys.ENTER)
        self.press(Keys.ENTER)
        self.assertEqual(theme(), "dark")

    def test_charts_are_there_and_inside_their_boxes(self):
        seen = {}
        chosen = ("json%2F16384", "query%2Flegacy", "query%2Ffuzzy", "query%2Fphrase", "index%2Finsert%2F100", "toml%2F256")
        pages = [("story", address) for address in self.links("story") if address.endswith(chosen)]
        pages += [("cases", address) for address in self.links("cases")]
        for page, address in pages:
            self.open(page, address, WIDTHS[-1])
            for width in reversed(WIDTHS):
                with self.subTest(page=page, address=address, width=width):
                    self.size(width)
                    self.settle()
                    charts, bad, beyond = self.run_script(BOXES)
                    self.assertEqual(bad, [])
                    self.assertLessEqual(beyond, 0)
                    seen[address] = charts
        whole = next(count for address, count in seen.items() if address.endswith("json%2F16384"))
        self.assertGreaterEqual(whole, 8)
        without = sorted(address.split("%2F")[-1] for address, count in seen.items() if not count)
        self.assertEqual(without, ["failed"], "what has no samples on either side has no charts")

    def test_no_view_is_wider_than_its_window(self):
        for page in ("story", "cases", "many", "empty"):
            self.open(page)
            for tab in self.browser.find_elements(By.CSS_SELECTOR, "[role=tab]"):
                tab.send_keys(Keys.ENTER)
                for width in (320, *WIDTHS):
                    with self.subTest(page=page, width=width, tab=tab.text):
                        self.size(width)
                        self.settle()
                        _, bad, beyond = self.run_script(BOXES)
                        self.assertEqual(bad, [])
                        self.assertLessEqual(beyond, 0)

    def test_statistics_show_numbers_on_a_telephone(self):
        for address in (self.links("story")[0], self.links("cases")[1]):
            with self.subTest(address=address):
                self.open(address=address, page="story" if address in self.links("story") else "cases", width=390)
                ends = self.run_script("""
                    const table = document.querySelector(".section table.plain"), box = table.parentElement.getBoundingClientRect();
                    return [...table.querySelectorAll("tbody tr")].map((row) => row.cells[1].getBoundingClientRect().right - box.right)""")
                self.assertGreater(len(ends), 8)
                self.assertLessEqual(max(ends), 0.5, "the first column of numbers is cut")

    def test_the_curve_of_the_mean_stands_at_the_mean(self):
        self.open("story", next(link for link in self.links("story") if link.endswith("json%2F256")))
        at = self.run_script("""
            const svg = document.querySelector("figure[data-chart=change] svg");
            const label = (word) => [...svg.querySelectorAll("text")].find((node) => node.textContent === word).getBoundingClientRect();
            const curve = svg.querySelector(".area.of-mean").getBoundingClientRect();
            return [label("decided").bottom, label("median").bottom, curve.top, curve.bottom, label("mean").top]""")
        self.assertEqual(at[:2], sorted(at[:2]))
        self.assertLessEqual(at[1], at[2] + 1)
        self.assertLess(at[3], at[4] + 12)

    def test_the_axis_of_a_change_is_that_of_what_was_decided_and_what_goes_on_is_cut(self):
        self.open("wide", next(link for link in self.links("story") if link.endswith("json%2F256")))
        curves, decided, arrows, caption = self.run_script("""
            const figure = document.querySelector("figure[data-chart=change]"), svg = figure.querySelector("svg"), box = (node) => node.getBoundingClientRect();
            const lines = [...svg.querySelectorAll(".bar-line:not(.goes-on)")].map(box);
            return [svg.querySelectorAll(".area.of-mean").length, lines[0].width / box(svg).width, svg.querySelectorAll(".goes-on").length, figure.innerText]""")
        # The axis shows -3 to +24 %. The interval of 4.8 % is a sixth of these 27 %, but it would be a seventeenth of the whole 80 %.
        self.assertGreater(decided, 0.12, "what was decided is a sixth of the picture")
        self.assertEqual(curves, 0, "the middle of the curve alone would look like a plateau")
        self.assertIn("too far apart to be drawn here", caption)
        self.assertEqual(arrows, 2, "the interval of the mean goes on at both sides")

    def test_the_change_is_that_of_the_two_values_beside_it(self):
        scale = {"ps": 1e-3, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
        rows = self.run_script("return [...document.querySelectorAll('#table tbody tr')].map((row) => ['.before', '.time:not(.before):not(.typical)', '.delta'].map((cell) => row.querySelector('td' + cell).innerText))")
        changed = [row for row in rows if row[2]]
        self.assertGreater(len(changed), 5)
        for before, after, delta in changed:
            before, after = (float(number) * scale[unit] for number, unit in (text.split() for text in (before, after)))
            self.assertAlmostEqual(after / before - 1, float(delta.split()[0].replace("−", "-")) / 100, delta=0.002, msg=delta)

    def test_charts_follow_the_width_of_the_window(self):
        address = self.links("story")[0]
        self.open("story", address, 1600)
        self.size(420)
        self.settle()
        charts, bad, beyond = self.run_script(BOXES)
        self.assertGreater(charts, 6)
        self.assertEqual((bad, beyond), ([], 0))

    def test_every_text_has_contrast_in_both_themes(self):
        for theme in ("light", "dark"):
            for page, address in (("story", ""), ("cases", ""), ("story", self.links("story")[0]), ("story", self.links("story")[-1]), ("cases", self.links("cases")[1]), ("cases", self.links("cases")[2])):
                with self.subTest(theme=theme, page=page, address=address):
                    self.open(page, address, theme=theme)
                    seen, bad = self.run_script(CONTRAST)
                    self.assertGreater(seen, 40)
                    self.assertEqual(bad, [])
            self.open("story", theme=theme)
            for tab in self.browser.find_elements(By.CSS_SELECTOR, "[role=tab]")[1:]:
                with self.subTest(theme=theme, tab=tab.text):
                    tab.send_keys(Keys.ENTER)
                    self.settle()
                    self.assertEqual(self.run_script(CONTRAST)[1], [])

    def test_hostile_names_stay_text(self):
        self.open("cases")
        shown = self.run_script("return document.getElementById('table').textContent")
        for name in ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "a\"b'c`d&amp;e", "größe/ソート/🦀/10", "=cmd()|'x'!A1"):
            self.assertIn(name, shown)
        self.assertNotIn("\u202e", shown)
        self.assertNotIn("\u001b", shown)
        self.assertEqual(self.run_script("return document.querySelectorAll('img, iframe, object, #table script').length"), 0)
        for address in self.links("cases"):
            self.open("cases", address)
            self.assertEqual(self.run_script("return document.querySelectorAll('img, iframe, object').length"), 0)
            self.assertEqual(self.run_script("return document.scripts.length"), 2)

    def test_every_chart_has_its_numbers_as_a_table_and_as_a_file(self):
        downloads = ROOT / "downloads"
        downloads.mkdir(exist_ok=True)
        self.browser.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
        self.open("story", self.links("story")[1])
        for figure in self.browser.find_elements(By.CSS_SELECTOR, "#detail figure"):
            name = figure.get_attribute("data-chart")
            with self.subTest(chart=name):
                figure.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
                self.settle()
                self.assertGreater(len(figure.find_elements(By.CSS_SELECTOR, "tbody tr")), 1)
                before = set(downloads.iterdir())
                figure.find_element(By.CSS_SELECTOR, ".save").send_keys(Keys.ENTER)
                deadline = time.monotonic() + 20
                # Wait until the file has content, because the browser creates it empty and fills it afterwards.
                while not (new := [path for path in set(downloads.iterdir()) - before if path.suffix == ".svg" and path.stat().st_size]):
                    self.assertLess(time.monotonic(), deadline, "no file came")
                    time.sleep(0.05)
                root = xml.parse(new[0]).getroot()
                self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
                self.assertTrue(root.find("{http://www.w3.org/2000/svg}title").text)
                self.assertNotIn("class=", new[0].read_text())

    def test_paper_has_every_benchmark_that_is_shown(self):
        self.run_script("dispatchEvent(new Event('beforeprint'))")
        self.settle()
        self.assertEqual(self.run_script("return document.querySelectorAll('#printed .sheet').length"), 24)
        self.assertEqual(self.run_script("return [...document.querySelectorAll('#printed .plot svg')].filter((svg) => !svg.children.length).length"), 0)
        self.run_script("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.run_script("return document.querySelectorAll('#printed .sheet').length"), 0)
        self.assertGreater(len(self.browser.execute_cdp_cmd("Page.printToPDF", {})["data"]), 50_000)

    def test_a_page_without_benchmarks_says_so(self):
        self.open("empty")
        self.assertIn("No benchmarks", self.run_script("return document.querySelector('h1').textContent"))
        self.assertIn("no benchmarks", self.run_script("return document.getElementById('table').innerText"))

    def test_an_interrupted_run_says_so(self):
        self.open("interrupted")
        self.assertEqual("Interrupted before anything was measured", self.run_script("return document.querySelector('h1').textContent"))
        self.assertIn(", incomplete", self.run_script("return document.querySelector('.about').textContent"))

    def test_the_address_names_a_benchmark_or_a_view_however_it_is_written(self):
        titled = "return document.getElementById('title')?.innerText"
        for address in ("#text-index/parse/parse/json/16384", "#text-index/parse/parse%2Fjson%2F16384", "#text-index%2fparse%2Fparse%2fjson%2F16384"):
            self.open("story", address)
            self.assertEqual(self.run_script(titled), "parse/json/16384", address)
        seen = "return [...document.querySelectorAll('.view')].filter((view) => !view.hidden).map((view) => view.id)"
        for address, name in (("#grid", "pivot"), ("#curves", "curves"), ("#environment", "environment"), ("#100%", "overview")):
            self.open("story", address)
            self.assertEqual(self.run_script(seen), [f"view-{name}"])
        self.browser.find_element(By.ID, "tab-curves").send_keys(Keys.ENTER)
        self.assertEqual(self.run_script("return location.hash"), "#curves")

    def test_interruptions_do_not_squeeze_the_charts(self):
        self.open("cases", "#text-index/bench/host/busy")
        one = self.run_script("return JSON.parse(document.getElementById('data').textContent).benchmarks.find((one) => one.id === 'host/busy')")
        for side in ("base", "candidate"):
            self.assertLess(one[side]["range"][1], 3200)
            self.assertGreater(one[side]["outside"], 80)
        self.assertIn("Far outside and not drawn", self.run_script("return document.getElementById('detail').innerText"))
        widths = self.run_script("return [...document.querySelectorAll('#detail svg')].flatMap((svg) => [...svg.querySelectorAll('path.area')].map((area) => area.getBBox().height)).sort((a, b) => a - b)")
        self.assertGreater(widths[0], 15, "no violin is flat")

    def test_numbers_are_written_as_the_terminal_writes_them(self):
        printed = perfcheck("story", "compare", "before", "after", "-v")
        shown = self.run_script("return [...document.querySelectorAll('#table tbody tr')].map((row) => [row.querySelector('.name').innerText.split('\\n')[0], row.querySelector('td.time:not(.before):not(.typical)').innerText, row.querySelector('.delta').innerText, row.querySelector('.rate').innerText])")
        # Read the lines backwards, so that a row of the table replaces a remark with the same name. Remarks stand below the table.
        lines = {line.split()[0]: line for line in reversed(printed.splitlines()) if line.startswith("  ")}
        for name, *cells in shown:
            for cell in filter(lambda cell: cell not in ("", "–"), cells):
                self.assertIn(cell, lines[name], name)

    def test_the_words_of_an_author_are_there_and_what_is_left_out(self):
        self.open("story", next(link for link in self.links("story") if link.endswith("boolean")))
        self.assertIn("3 terms", self.run_script("return document.getElementById('detail').innerText"))
        self.open("many")
        self.assertIn("histories of all 2000 benchmarks are left out", self.run_script("return document.getElementById('omissions').innerText"))

    def test_two_thousand_benchmarks_can_be_sorted_filtered_and_walked(self):
        self.open("many")
        took = self.run_script("const [entry] = performance.getEntriesByType('navigation'); return entry.domComplete")
        print(f"2,000 benchmarks: complete after {took:.0f} ms, {(ROOT / 'many.html').stat().st_size} bytes")
        self.assertEqual(self.run_script("return document.getElementById('shown').textContent"), "2,000 benchmarks")
        first = len(self.names())
        self.assertLess(first, 400)
        self.browser.find_element(By.CSS_SELECTOR, "[data-sort=change]").send_keys(Keys.ENTER)
        self.settle()
        changes = self.run_script("return JSON.parse(document.getElementById('data').textContent).benchmarks.map((one) => [one.compared.change[0], one.id]).sort((a, b) => b[0] - a[0])")
        self.assertEqual(self.names()[:5], [name for _, name in changes[:5]])
        # More rows appear when the reader scrolls, when the keyboard moves past the last row, and when the button is pressed.
        self.run_script("document.getElementById('more').scrollIntoView()")
        self.settle()
        self.settle()
        self.assertGreater(len(self.names()), first)
        rows = len(self.names())
        self.run_script("[...document.querySelectorAll('#table tbody a')].at(-1).focus()")
        self.press("j")
        self.assertGreater(len(self.names()), rows)
        self.assertEqual(self.run_script("return document.activeElement.innerText.split('\\n')[0]"), self.names()[rows])
        self.press(Keys.ENTER)
        self.assertGreater(self.run_script("return document.querySelectorAll('#detail .plot svg').length"), 6)
        self.press("j")
        self.assertEqual(self.run_script("return document.getElementById('title').innerText"), self.names()[rows + 1])
        self.press(Keys.ESCAPE)
        self.run_script("document.getElementById('more').click()")
        self.assertEqual(len(set(self.names())), 2000)
        self.press("/", "group07")
        self.assertEqual(len(self.names()), 50)
        self.assertTrue(all("group07" in name for name in self.names()))
        last = self.run_script("const { head, benchmarks } = JSON.parse(document.getElementById('data').textContent), one = benchmarks.at(-1); return '#' + [...head.places[one.place], one.id].map(encodeURIComponent).join('/')")
        self.open("many", last)
        self.assertEqual(self.run_script("return document.querySelector('#table tr[aria-current=true] a').getAttribute('href')"), last)


def screenshots(directory):
    page = Page()
    Page.setUpClass()
    try:
        links = page.links("story")
        regressed = next(link for link in links if link.endswith("json%2F256"))
        for name, address, width, height, theme in (
            ("page-light", "", 1280, 860, "light"),
            ("page-dark", regressed, 1440, 1010, "dark"),
            ("page-narrow", regressed, 400, 860, "light"),
        ):
            page.open("story", address, width, theme)
            page.size(width, height)
            page.settle()
            Page.browser.save_screenshot(str(directory / f"{name}.png"))
    finally:
        Page.tearDownClass()


def main():
    global BINARY
    match sys.argv[1:]:
        case [binary]:
            directory = None
        case [binary, "--screenshots", directory]:
            directory = pathlib.Path(directory).resolve()
        case _:
            sys.exit(__doc__)
    BINARY = str(pathlib.Path(binary).resolve())
    make_pages()
    result = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.loadTestsFromTestCase(Page))
    if not result.wasSuccessful():
        sys.exit(1)
    if directory:
        screenshots(directory)


if __name__ == "__main__":
    main()
