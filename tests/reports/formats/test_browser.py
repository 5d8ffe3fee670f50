"""The HTML page in a real headless Chromium, where there is one."""

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
