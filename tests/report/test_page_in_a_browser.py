"""The report in a real browser: everything is drawn, sliders move, nothing leaves the page, nothing strange runs."""

from __future__ import annotations

import json
import os
import shutil
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import asterism
from asterism.errors import OutputExistsError
from asterism.report.page import write_report

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
SHOTS = Path(os.environ.get("ASTERISM_SCREENSHOTS", "build/screenshots"))
FIGURES = {
    "map", "views", "heat", "carriers", "silhouettes", "margins", "kmeans", "em", "starts", "scree",
    "curve-0",
}  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    if BROWSER is None:
        pytest.skip("no chromium, chromium-browser or google-chrome on the path")
    api = pytest.importorskip("playwright.sync_api", reason="the Python package playwright is not installed")
    with api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()


class Visit:
    """A page, and everything it did that it should not."""

    def __init__(self, browser, path, *, width=1280, scheme="light", before="", **more):
        self.complaints, self.requests = [], []
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)
        self.page.on(
            "console", lambda m: m.type in ("error", "warning", "trace") and self.complaints.append(m.text)
        )
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("dialog", lambda d: (self.complaints.append(f"dialog {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.add_init_script(before)
        self.page.goto(path.as_uri())

    def __enter__(self):
        self.page.locator("html[data-ready=yes]").wait_for(state="attached", timeout=60_000)
        return self

    def __exit__(self, *_):
        self.page.close()

    def until(self, true):
        """Wait for a JavaScript expression. (The page's policy forbids playwright's own way, an eval in the page.)"""
        end = time.monotonic() + 60  # a machine may have much else to do
        while not self.page.evaluate(true):
            assert time.monotonic() < end, f"never came true: {true}"
            self.page.wait_for_timeout(30)

    @property
    def figures(self):
        """Names of the figures the page has a place for."""
        return self.page.evaluate("[...document.querySelectorAll('.plot')].map(p => p.id.slice(5))")

    def scroll_through(self):
        """As a reader does; every figure is drawn on the way."""
        for name in self.figures:
            place = f"document.getElementById('plot-{name}')"
            self.page.evaluate(f"{place}.scrollIntoView({{behavior: 'instant'}})")
            self.until(f"{place}.dataset.drawn === 'yes'")
        self.page.evaluate("window.scrollTo({top: 0, behavior: 'instant'})")

    def point_at_a_row(self):
        """What the map says when the pointer is on its first point."""
        point = self.page.locator("#plot-map .scatterlayer .point").first
        point.scroll_into_view_if_needed()
        box = point.bounding_box()
        self.page.mouse.move(box["x"] + box["width"] / 2 - 30, box["y"] + box["height"] / 2)
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
        self.until("document.querySelector('#plot-map .hoverlayer .hovertext') !== null")
        return self.page.locator("#plot-map .hoverlayer .hovertext").first.text_content()

    def shot(self, name, **options):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", **options)

    @property
    def left(self):
        return [url for url in self.requests if not url.startswith(("file:", "data:"))]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    penguins = pd.read_csv(Path(__file__).parents[2] / "examples" / "penguins.csv")
    finding = asterism.find(penguins.drop(columns=["species", "year"]), k=3, method="kmeans")
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(
        finding,
        path,
        title="penguins.csv",
        command="asterism find penguins.csv --k 3",
        seconds=1.5,
        peak_bytes=300 << 20,
        reference=("species", penguins["species"].tolist()),
    )
    return path


@pytest.fixture(scope="module")
def open_page(browser, report):
    """One visit for all tests that leave the page as it is, or nearly so; nothing below the window is drawn yet."""
    with Visit(browser, report) as visit:
        visit.lazy = visit.page.evaluate("document.querySelectorAll('.plot:not([data-drawn])').length")
        visit.seconds = visit.page.evaluate("performance.getEntriesByName('ready')[0].startTime") / 1000
        visit.scroll_through()
        yield visit


def test_report_is_one_file_below_six_megabytes(report) -> None:
    assert report.stat().st_size < 6e6
    assert [p.name for p in report.parent.iterdir()] == ["report.html"]


def test_nothing_is_overwritten_unasked(report) -> None:
    finding = asterism.find(np.random.default_rng(0).normal(size=(30, 2)), k=1, method="kmeans")
    before = report.read_bytes()
    with pytest.raises(OutputExistsError, match="force"):
        write_report(finding, report)
    assert report.read_bytes() == before


def test_every_figure_is_drawn_without_a_complaint_and_without_a_request(open_page) -> None:
    assert set(open_page.figures) == FIGURES
    for name in FIGURES:
        assert open_page.page.locator(f"#plot-{name} .main-svg").count() > 0, name
        assert open_page.page.locator(f"#plot-{name} .trace, #plot-{name} .hm").count() > 0, name
    assert open_page.complaints == []
    assert open_page.left == []
    assert len(open_page.requests) == 1 + sum(url == "data:," for url in open_page.requests)
    open_page.shot("report-light", full_page=True)


def test_page_is_ready_before_it_has_drawn_what_nobody_sees(open_page) -> None:
    assert open_page.lazy > 6
    assert open_page.seconds < 15  # about 1 on a machine that does nothing else; tests share theirs


def test_headings_landmarks_and_labels_are_there(open_page) -> None:
    page = open_page.page
    assert [page.locator(tag).count() for tag in ("h1", "main", "header.bar", "footer")] == [1, 1, 1, 1]
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert page.get_by_role("slider").count() == 3
    unnamed = "[...document.querySelectorAll('[role=img],input,button,section,figure')].filter(e =>"
    unnamed += " !(e.ariaLabel || e.getAttribute('aria-labelledby') || e.textContent.trim())).length"
    assert page.evaluate(unnamed) == 0
    broken = "[...document.querySelectorAll('[aria-labelledby],[for]')].filter(e => !document.getElementById("
    broken += "e.getAttribute('aria-labelledby') || e.getAttribute('for'))).length"
    assert page.evaluate(broken) == 0
    assert page.locator(".card").count() == 3
    lacking = "[...document.querySelectorAll('figure')].filter(f => !f.querySelector('table')).length"
    assert page.evaluate(lacking) == 0


def test_groups_have_the_numbers_of_labels_csv(open_page) -> None:
    numbers = open_page.page.locator(".card .number").all_inner_texts()
    told = open_page.page.evaluate("JSON.parse(document.getElementById('summary').textContent).groups")
    assert [text.lower() for text in numbers] == [f"group {group['group']}" for group in told]
    assert numbers[0].endswith(" 0")


def test_pointing_at_a_point_of_the_map_shows_its_row(open_page) -> None:
    said = open_page.point_at_a_row()
    assert said.startswith("row ")
    assert "bill_length_mm" in said


@pytest.mark.parametrize("name", ["views", "kmeans", "em"])
def test_sliders_move_their_figures_by_keyboard(open_page, name) -> None:
    page = open_page.page
    look = f"JSON.stringify(document.getElementById('plot-{name}').data)"
    said = page.locator(f"#said-{name}")
    before, words = page.evaluate(look), said.text_content()
    page.locator(f"#slider-{name}").focus()
    page.keyboard.press("ArrowRight")
    open_page.until(f"{look} !== {json.dumps(before)}")
    assert said.text_content() != words
    assert page.locator(f"#slider-{name}").get_attribute("aria-valuetext") == said.text_content()
    assert open_page.complaints == []


def test_play_runs_to_the_last_step(open_page) -> None:
    open_page.page.locator("#slider-kmeans").evaluate("s => { s.value = Number(s.max) - 1 }")
    open_page.page.locator("#play-kmeans").click()
    open_page.until("(s => s.value === s.max)(document.getElementById('slider-kmeans'))")
    open_page.until("document.getElementById('play-kmeans').textContent === 'Play'")


def test_summary_in_the_page_is_the_summary(open_page) -> None:
    said = open_page.page.evaluate("JSON.parse(document.getElementById('summary').textContent)")
    assert said["k"] == 3
    assert said["provenance"]["command"] == "asterism find penguins.csv --k 3"
    assert said["agreement"]["column"] == "species"
    assert sum(group["size"] for group in said["groups"]) == 344


@pytest.fixture(scope="module")
def dark_page(browser, report):
    with Visit(browser, report, scheme="dark") as visit:
        yield visit


def test_first_key_leads_past_the_navigation(dark_page) -> None:
    dark_page.page.keyboard.press("Tab")
    dark_page.page.keyboard.press("Enter")
    assert dark_page.page.evaluate("document.activeElement.id") == "verdict"


def test_dark_by_the_button_and_by_preference_with_words_that_can_be_read(open_page, dark_page) -> None:
    light = paper_and_inks(open_page.page)
    open_page.page.locator("#theme").click()
    dark = paper_and_inks(open_page.page)
    assert dark["--paper"] != light["--paper"]
    for inks in (light, dark):
        for ink in ("--ink", "--soft", "--faint", "--accent"):
            for ground in ("--paper", "--sheet"):
                assert contrast(inks[ink], inks[ground]) >= 4.5, (ink, ground)
    assert paper_and_inks(dark_page.page) == dark
    dark_page.shot("report-dark")
    assert dark_page.complaints == []


def paper_and_inks(page):
    names = ["--paper", "--sheet", "--ink", "--soft", "--faint", "--accent"]
    read = "names => names.map(n => getComputedStyle(document.documentElement).getPropertyValue(n).trim())"
    return dict(zip(names, page.evaluate(read, names), strict=True))


def contrast(a: str, b: str) -> float:
    """Of two colours, by the formula of WCAG 2."""

    def light(colour: str) -> float:
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_readable_on_a_phone_and_whole_on_paper(browser, report) -> None:
    with Visit(browser, report, width=390, has_touch=True, is_mobile=True) as visit:
        visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert visit.page.evaluate("document.documentElement.dataset.theme") == "light"
        assert visit.page.locator(".plot .main-svg").count() >= len(FIGURES)  # drawn without having been seen
        visit.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        visit.until("document.querySelectorAll('.plot:not([data-drawn])').length === 0")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert visit.page.evaluate("document.getElementById('plot-map').layout.dragmode") is False
        assert visit.complaints == []
        visit.shot("report-phone", full_page=True)


def test_without_scripts_the_words_and_numbers_are_there(browser, report) -> None:
    visit = Visit(browser, report, java_script_enabled=False)
    page = visit.page
    assert "3 groups" in page.locator("#verdict").text_content()
    assert page.locator("noscript").is_visible()
    page.locator("figure summary").first.click()
    assert page.locator("figure table").first.is_visible()
    page.close()


def test_an_old_browser_is_told_where_the_numbers_are(browser, report) -> None:
    visit = Visit(browser, report, before="delete window.DecompressionStream")
    visit.until("document.getElementById('plot-map').textContent.includes('numbers stand below')")
    visit.page.close()


# --- hostile tables ---------------------------------------------------------------------------------------------

PIECES = [
    "<script>window.hit=1</script>", "</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>",
    "<svg onload=window.hit=1>", "\"><script>window.hit=1</script>", "' onmouseover='window.hit=1", "{{ 7*7 }}",
    "{% raw %}", "${window.hit=1}", "%{customdata}", "<!--", "-->", "]]>", "javascript:window.hit=1",
    "<a href='javascript:window.hit=1'>x</a>", "<style>*{display:none}</style>", "<iframe src=https://example.org>",
    "\\u003cscript\\u003e", "&lt;script&gt;", "\u2028window.hit=1", "\u202egnp", "=1+1", "$\\alpha$", "__proto__",
    "constructor", "</title>", "<base href=https://example.org>", "';window.hit=1;//", "`${1}`", "\x00\x07",
]  # fmt: skip


def hostile_table(n=120):
    """Forty hostile column names, 160 hostile levels, and hostile ids."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], n // 2)
    columns = {}
    for i in range(40):
        name = f"{PIECES[i % len(PIECES)]}{i}" if i else "x" * 1_000_000
        if i % 4 == 3:
            levels = [f"{PIECES[(i + j) % len(PIECES)]} {i} {j}" for j in range(16)]
            columns[name] = [levels[8 * t + int(rng.integers(0, 8))] for t in truth]
        else:
            columns[name] = rng.normal(5 * truth, 1)
    columns["</script><script>window.hit=1</script>"] = [
        f"<script>window.hit=1</script>{i}" for i in range(n)
    ]
    return pd.DataFrame(columns)


def test_two_hundred_hostile_strings_execute_nothing_and_break_nothing(browser, tmp_path) -> None:
    path = tmp_path / "report.html"
    table = hostile_table()
    finding = asterism.find(table, k=2, method="kmeans")
    cells = [PIECES[i % len(PIECES)] for i in range(len(table))]
    write_report(finding, path, title=PIECES[1], command=PIECES[1], reference=(PIECES[1], cells))
    assert path.stat().st_size < 6e6
    with Visit(browser, path) as visit:
        page = visit.page
        visit.scroll_through()
        own = 4 + len(
            visit.figures
        )  # summary, plotly packed and unpacked, the page's script; data of the figures
        assert page.evaluate("document.scripts.length") == own
        assert page.locator("iframe, img, base").count() == 0
        assert page.evaluate("document.querySelectorAll('.main-svg a').length") == 0
        assert page.locator(".card").count() == 2
        assert visit.point_at_a_row().startswith("row ")
        for name in ("views", "kmeans", "em"):
            page.locator(f"#slider-{name}").focus()
            page.keyboard.press("ArrowRight")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert page.evaluate("window.hit") is None
        assert visit.complaints == []
        assert visit.left == []
        visit.shot("report-hostile", full_page=True)
