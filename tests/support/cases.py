"""The project's own case files. `expected` of each scenario was decided from docs/case-rules.md."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "cases"

KINDS = sorted((FOLDER / "kinds").glob("*.json"))
"""One kind of fault each: a scenario that must be flagged, and a near miss that must not."""

TRIALS = sorted((FOLDER / "trials").glob("*.json"))
"""Faults of one mechanism in several disguises, each with a sound twin."""

ROUTES = FOLDER / "routes.case.json"
"""The routes of vLLM: sound streams of each, and faults that only their events show."""

BY_HAND = FOLDER / "by_hand.case.json"
"""Scenarios whose codes were derived from the definitions by hand, each with its reason."""
