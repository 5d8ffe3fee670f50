"""The configuration page is the one the model writes."""

from pathlib import Path

from draftgate.config_reference import reference


def test_the_page_is_current(root: Path) -> None:
    page = (root / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page.strip() == reference().strip()
