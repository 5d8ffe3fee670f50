"""The HTML page in a real headless Chromium, where there is one."""

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from reports.formats.html import render_html
from reports.store.store import Store
from reports.store.summary import read_summary
from tests.support.synthetic_run import synthetic_run

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
HOSTILE = (
    "<script>document.title='pwned'</script><svg onload=\"document.title='pwned'\">"
    "<img src=x onerror=\"document.title='pwned'\"><a href=\"javascript:document.title='pwned'\">"
    "</style><iframe src=http://127.0.0.1:9/></iframe>{{ 7 * 191 }}\u202e\x1b[2J"
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A failed run full of hostile text, as a file."""
    file = tmp_path_factory.mktemp("page") / "report.html"
    with Store.in_memory() as store:
        store.load(synthetic_run("r", verdict="fail", tokens=120, text=HOSTILE))
        file.write_text(render_html(store, read_summary(store, "r")), encoding="utf-8")
    return file


def chromium(page: Path, *arguments: str) -> tuple[str, list[str]]:
    """(standard output, console messages) of a headless visit."""
    assert CHROMIUM
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={page.parent / 'profile'}", "--enable-logging=stderr"]
    done = subprocess.run(
        [*command, *arguments, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout, re.findall(r".*CONSOLE.*", done.stderr)


def test_hostile_text_does_nothing_and_the_console_stays_empty(page: Path) -> None:
    dom, console = chromium(page, "--dump-dom")
    assert console == []
    assert "<title>draftgate: fail · r</title>" in dom
    assert not re.search(r"<(script|iframe|img|object|embed)\b", dom)
    assert dom.count("&lt;script&gt;document.title='pwned'&lt;/script&gt;") > 5
    assert "1337" not in dom


def test_a_script_that_got_in_would_be_seen_and_stopped(page: Path) -> None:
    """The check above can fail: a planted script is reported on the console, and does not run."""
    planted = page.with_name("planted.html")
    text = page.read_text(encoding="utf-8")
    planted.write_text(text.replace("<main>", "<main><script>document.title='pwned'</script>"))
    dom, console = chromium(planted, "--dump-dom")
    assert any("Content Security Policy" in line for line in console)
    assert "<title>draftgate: fail · r</title>" in dom


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_it_draws_at_desktop_and_phone_width(page: Path, width: int, height: int) -> None:
    picture = page.with_name(f"{width}.png")
    _, console = chromium(page, f"--window-size={width},{height}", f"--screenshot={picture}")
    assert console == []
    assert picture.stat().st_size > 10_000


MEASURE = """<!doctype html><title>-</title><body>
<iframe id="page" style="border:0;width:{width}px;height:900px" srcdoc="{page}"></iframe>
<script>document.getElementById('page').onload = function () {{
  const page = this.contentDocument, width = page.documentElement.clientWidth;
  page.querySelectorAll('details').forEach(part => part.open = true);
  const beyond = [...page.querySelectorAll('main *, header *')].filter(part => {{
    const box = part.getBoundingClientRect();
    return box.width > 0 && box.left > -50 && box.right > width + 1;
  }});
  document.title = 'beyond ' + width + ': ' + beyond.slice(0, 5).map(p => p.outerHTML.slice(0, 80));
}}</script>"""
"""Opens everything that is folded, and names what reaches beyond the right edge."""


def beyond_the_edge(page: Path, width: int) -> str:
    """What a visit at `width` px finds: ``beyond 375: `` and the elements that are too wide.

    A frame is used since a window of Chromium is never narrower than 500 px.
    """
    probe = page.with_name("probe.html")
    text = html.escape(page.read_text(encoding="utf-8"))
    probe.write_text(MEASURE.format(width=width, page=text), encoding="utf-8")
    dom, _ = chromium(probe, "--window-size=1400,1000", "--virtual-time-budget=5000", "--dump-dom")
    found = re.search("<title>(beyond .*?)</title>", dom, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_nothing_has_to_be_scrolled_sideways(page: Path, width: int) -> None:
    assert re.fullmatch(r"beyond \d+: ", beyond_the_edge(page, width))


def test_what_is_too_wide_would_be_seen(page: Path) -> None:
    wide = page.with_name("wide.html")
    text = page.read_text(encoding="utf-8")
    wide.write_text(text.replace("<main>", "<main><p><svg width='600'></svg></p>"))
    assert "svg" in beyond_the_edge(wide, 390)
