"""The page of `explain --html` and the documents' site, in a browser: nothing fails, nobody is asked for anything.

    python -m tests.site.test_browser

takes the pictures of the documents anew.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.site.browser import Browser, Page
from tests.site.pages import DOCS, PAGES, blocks, name
from tests.site.test_navigation import build
from tests.tools import require
from transkern.cli import cli

BACK = "getComputedStyle(document.body).backgroundColor"
PICTURES = DOCS / "pictures"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    require("browser")
    with Browser() as made:
        yield made


def explained(folder: Path) -> Path:
    """The page that the tutorial shows."""
    (source,) = (b.text for b in blocks(DOCS / "tutorial.md") if b.title == "filters.py")
    (folder / "filters.py").write_text(source, encoding="utf-8")
    page = folder / "smooth.html"
    types = "smooth(float64[n], int)"
    told = CliRunner().invoke(cli, ["explain", str(folder / "filters.py"), "--types", types, "--html", str(page)])
    assert told.exit_code == 0, told.output
    return page


def is_quiet(page: Page) -> None:
    """Nothing went wrong, and nobody but this machine was asked for anything."""
    assert not page.problems
    assert [a for a in page.requests if not a.startswith(("file:", "data:", "http://127.0.0.1:"))] == []


def luminance(page: Page) -> float:
    red, green, blue = map(int, re.findall(r"\d+", page.evaluate(BACK))[:3])
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


# ---- the page of `explain --html` ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return browser.open(explained(tmp_path_factory.mktemp("page")).as_uri())


def test_a_line_shows_what_belongs_to_it(page: Page) -> None:
    page.prefer("light")
    place = page.evaluate(
        "(() => { const r = document.querySelector('.source .row[data-line=\"8\"]').getBoundingClientRect();"
        " return [r.left + 20, r.top + r.height / 2] })()"
    )
    page.press(*place)
    each = "[r.closest('section').className, r.textContent]"
    marked = page.evaluate(f"[...document.querySelectorAll('.row.on')].map((r) => {each})")
    assert {side for side, _ in marked} == {"source", "made"}
    assert any("total[width:]" in text for side, text in marked if side == "source")
    assert any("cumsum[" in text for side, text in marked if side == "made")
    is_quiet(page)


def test_a_line_can_be_chosen_by_the_keyboard(page: Page) -> None:
    page.evaluate("document.querySelector('.made .row[data-line=\"7\"]').focus()")
    page.tell("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13)
    assert page.evaluate("document.querySelector('.source .row.on').textContent").strip().endswith("np.zeros(1), x]))")
    is_quiet(page)


def test_links_in_what_became_of_it_lead_to_lines(page: Page) -> None:
    before = page.evaluate("location.href")
    links = page.evaluate("[...document.querySelectorAll('.told a[data-line]')].map((a) => a.dataset.line)")
    assert links
    for place, line in enumerate(links):
        page.evaluate(f"document.querySelectorAll('.told a[data-line]')[{place}].click()")
        marked = page.evaluate("[...document.querySelectorAll('.row.on')].map((r) => r.dataset.line)")
        assert len(marked) > 1 and set(marked) == {line}
        assert page.evaluate("document.querySelectorAll('.source .row.on').length") == 1
    assert page.evaluate("location.href") == before
    is_quiet(page)


def test_the_page_is_light_or_dark_as_the_system(page: Page) -> None:
    page.prefer("light")
    light = luminance(page)
    page.prefer("dark")
    assert light > 0.9 and luminance(page) < 0.1
    assert contrast(page, ".row.on") > 4.5 and contrast(page, ".told") > 4.5
    page.prefer("light")
    assert contrast(page, ".row.on") > 4.5 and contrast(page, ".told") > 4.5


def contrast(page: Page, where: str) -> float:
    """Between text and ground, as WCAG 2 has it."""
    style = f"getComputedStyle(document.querySelector('{where}'))"
    first, second = (_relative(page.evaluate(f"{style}.{what}")) for what in ("color", "backgroundColor"))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def _relative(colour: str) -> float:
    parts = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_page_fits_a_narrow_window(page: Page) -> None:
    try:
        page.tell("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
    finally:
        page.tell("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)


# ---- the site --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("mkdocs", "browser")
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site on a server of this machine."""

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_each_page_from_a_folder(site: Path, browser: Browser) -> None:
    page = browser.open((site / "index.html").as_uri())
    for one in PAGES:
        page.go((site / name(one)).with_suffix(".html").as_uri())
        assert page.evaluate("document.querySelector('h1') !== null"), one
        broken = "[...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src)"
        assert page.evaluate(broken) == [], one
        is_quiet(page)


def test_search(site: Path, address: str, browser: Browser) -> None:
    for start in ((site / "index.html").as_uri(), address):
        page = browser.open(start)
        page.evaluate("document.querySelector('[data-md-component=search-query]').focus()")
        page.tell("Input.insertText", text="suppression")
        page.tell("Input.dispatchKeyEvent", type="keyUp", key="n")
        page.wait("document.querySelectorAll('.md-search-result__item').length > 0")
        found = page.evaluate("[...document.querySelectorAll('.md-search-result__link')].map((a) => a.href)")
        assert any("howto/nms.html" in link for link in found)
        is_quiet(page)


def test_links_of_the_navigation_lead_to_pages(site: Path, address: str, browser: Browser) -> None:
    page = browser.open(address)
    links = page.evaluate("[...document.querySelectorAll('.md-nav--primary a.md-nav__link')].map((a) => a.href)")
    inside = {link.partition("#")[0] for link in links}
    assert {link.removeprefix(address) for link in inside} - {""} >= {
        str(Path(name(one)).with_suffix(".html")) for one in PAGES if name(one) != "index.md"
    }
    assert page.evaluate(
        f"Promise.all({sorted(inside)}.map((a) => fetch(a).then((r) => r.ok))).then((all) => all.every(Boolean))"
    )
    is_quiet(page)


def test_the_site_is_light_or_dark_as_the_system(site: Path, browser: Browser) -> None:
    page = browser.open((site / "tutorial.html").as_uri())
    page.prefer("light")
    light = luminance(page)
    page.prefer("dark")
    page.wait("document.body.dataset.mdColorScheme === 'slate'")
    assert light > 0.9 and luminance(page) < 0.2
    is_quiet(page)


# ---- pictures --------------------------------------------------------------------------------------------------------


def take_pictures(folder: Path) -> None:
    """The page of `explain --html`, light and dark, with a statement's lines marked."""
    page_file = explained(folder)
    with Browser() as browser:
        page = browser.open(page_file.as_uri(), 1100, 480)
        page.evaluate("document.querySelector('.source .row[data-line=\"8\"]').click()")
        page.evaluate("scrollTo(0, 0)")
        for scheme, file in (("light", "explain.png"), ("dark", "explain-dark.png")):
            page.prefer(scheme)
            page.picture(PICTURES / file)
            make_small(PICTURES / file)


def make_small(path: Path) -> None:
    """A picture of text needs few colours."""
    from PIL import Image

    with Image.open(path) as image:
        image.convert("RGB").quantize(48).save(path, optimize=True)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        take_pictures(Path(made))
