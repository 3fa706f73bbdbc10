"""The report in a real browser: everything is drawn, sliders move, nothing leaves the page, nothing strange runs."""

from __future__ import annotations

import json
import os
import shutil
import time
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

    def __init__(self, browser, path, width=1280, scheme="light"):
        self.complaints, self.requests = [], []
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page.on("console", lambda m: m.type in ("error", "warning") and self.complaints.append(m.text))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("dialog", lambda d: (self.complaints.append(f"dialog {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.path = path

    def __enter__(self):
        self.page.goto(self.path.as_uri())
        self.page.locator("html[data-ready=yes]").wait_for(state="attached", timeout=60_000)
        return self

    def until(self, true):
        """Wait for a JavaScript expression. (The page's policy forbids playwright's own way, an eval in the page.)"""
        end = time.monotonic() + 20
        while not self.page.evaluate(true):
            assert time.monotonic() < end, f"never came true: {true}"
            self.page.wait_for_timeout(50)

    def __exit__(self, *_):
        self.page.close()

    def shot(self, name, **options):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", **options)

    @property
    def left(self):
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]


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


def test_report_is_one_file_below_six_megabytes(report) -> None:
    assert report.stat().st_size < 6e6
    assert [p.name for p in report.parent.iterdir()] == ["report.html"]


def test_nothing_is_overwritten_unasked(report) -> None:
    finding = asterism.find(np.random.default_rng(0).normal(size=(30, 2)), k=1)
    before = report.read_bytes()
    with pytest.raises(OutputExistsError, match="force"):
        write_report(finding, report)
    assert report.read_bytes() == before


def test_every_figure_is_drawn_without_a_complaint_and_without_a_request(browser, report) -> None:
    with Visit(browser, report) as visit:
        figures = visit.page.evaluate(
            "Object.keys(JSON.parse(document.getElementById('figures').textContent))"
        )
        assert {
            "map",
            "views",
            "heat",
            "carriers",
            "silhouettes",
            "margins",
            "kmeans",
            "em",
            "scree",
            "tree",
        } <= set(figures)
        for name in figures:
            assert visit.page.evaluate(f"document.querySelector('#plot-{name} .main-svg') !== null"), name
        assert visit.complaints == []
        assert visit.left == []
        assert len(visit.requests) == 1 + sum(url == "data:," for url in visit.requests)
        visit.shot("report-light", full_page=True)


def test_headings_landmarks_and_labels_are_there(browser, report) -> None:
    with Visit(browser, report) as visit:
        page = visit.page
        assert page.locator("h1").count() == 1
        assert (
            page.locator("main").count()
            == page.locator("header.bar").count()
            == page.locator("footer").count()
            == 1
        )
        assert page.get_by_role("slider").count() == 3
        unnamed = "[...document.querySelectorAll('[role=img],input,button,section,figure')].filter(e =>"
        unnamed += " !(e.ariaLabel || e.getAttribute('aria-labelledby') || e.textContent.trim())).length"
        assert page.evaluate(unnamed) == 0
        assert page.locator(".card").count() == 3
        tables = page.evaluate(
            "[...document.querySelectorAll('figure')].filter(f => !f.querySelector('table')).length"
        )
        assert tables == 0


@pytest.mark.parametrize("name", ["views", "kmeans", "em"])
def test_sliders_move_their_figures_by_keyboard(browser, report, name) -> None:
    with Visit(browser, report) as visit:
        page = visit.page
        look = f"JSON.stringify(document.getElementById('plot-{name}').data)"
        said = page.locator(f"#said-{name}")
        before, words = page.evaluate(look), said.text_content()
        page.locator(f"#slider-{name}").focus()
        page.keyboard.press("ArrowRight")
        visit.until(f"{look} !== {json.dumps(before)}")
        assert said.text_content() != words
        assert visit.complaints == []


def test_play_runs_to_the_last_step(browser, report) -> None:
    with Visit(browser, report) as visit:
        visit.page.locator("#slider-kmeans").evaluate("s => { s.value = Number(s.max) - 1 }")
        visit.page.locator("#play-kmeans").click()
        visit.until("(s => s.value === s.max)(document.getElementById('slider-kmeans'))")
        visit.until("document.getElementById('play-kmeans').textContent === 'Play'")


def test_dark_by_preference_and_by_the_button(browser, report) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    with Visit(browser, report) as visit:
        light = visit.page.evaluate(paper)
        visit.page.locator("#theme").click()
        dark = visit.page.evaluate(paper)
        assert dark != light
    with Visit(browser, report, scheme="dark") as visit:
        assert visit.page.evaluate(paper) == dark
        visit.shot("report-dark")


def test_readable_on_a_phone(browser, report) -> None:
    with Visit(browser, report, width=390) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
        visit.shot("report-phone", full_page=True)


def test_summary_in_the_page_is_the_summary(browser, report) -> None:
    with Visit(browser, report) as visit:
        said = visit.page.evaluate("JSON.parse(document.getElementById('summary').textContent)")
        assert said["k"] == 3
        assert said["provenance"]["command"] == "asterism find penguins.csv --k 3"
        assert said["agreement"]["column"] == "species"
        assert sum(group["size"] for group in said["groups"]) == 344


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
    """Forty hostile column names, and 160 hostile levels and ids."""
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
        assert page.evaluate("window.hit") is None
        assert visit.complaints == []
        assert visit.left == []
        assert page.evaluate("document.scripts.length") == 4
        assert page.locator("iframe, img, base").count() == 0
        assert page.evaluate("document.querySelectorAll('.main-svg a').length") == 0
        assert page.locator(".card").count() == 2
        page.mouse.move(500, 500)
        for name in ("views", "kmeans", "em"):
            if page.locator(f"#slider-{name}").count():
                page.locator(f"#slider-{name}").focus()
                page.keyboard.press("ArrowRight")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert page.evaluate("window.hit") is None
        visit.shot("report-hostile", full_page=True)
