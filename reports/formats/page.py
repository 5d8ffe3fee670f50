"""A template of the project as an HTML page without script or network, with the one style sheet.

    render_page("report.html.j2", run=…, s=…)

The Content-Security-Policy of a page allows its one style sheet, by hash, and nothing else.
Recorded text is escaped by Jinja's autoescape, and characters that act are written out.
"""

import base64
import hashlib
import json
from functools import cache
from itertools import cycle
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from reports.inert import visible
from reports.number import ABSENT, interval, moment, number

STYLE = "report.css"


def render_page(template: str, **values: Any) -> str:
    """The page of a template with `values`; `css` and `css_hash` are added."""
    environment = _environment()
    loader = environment.loader
    assert loader is not None
    css = loader.get_source(environment, STYLE)[0]
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    found = environment.get_template(template)
    return found.render(css=css, css_hash=f"sha256-{digest}", **values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reports.formats"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "text": visible,
        "number": number,
        "interval": interval,
        "moment": moment,
        "fact": _fact,
        "code_spans": _code_spans,
        "words": lambda name: str(name).replace("_", " "),
    }
    return environment


def _code_spans(text: str) -> Markup:
    """Escaped text whose parts in backticks are code."""
    parts = [escape(visible(part)) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if odd else part
        for part, odd in zip(parts, cycle((False, True)), strict=False)
    )


def _fact(value: Any) -> str:
    if value is None:
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return _indented(value) if isinstance(value, str) and value[:1] == "{" else str(value)


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except ValueError:
        return text
