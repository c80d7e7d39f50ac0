# Two commands do all the set-up: `make demo` and `make test`.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
  SCRIPTS := Scripts
else
  SCRIPTS := bin
endif
DEMO := .venv-demo
DEV  := .venv
RUN  := $(DEV)/$(SCRIPTS)
JOBS ?= auto

.PHONY: demo test check format bench fuzz cassettes docs clean

demo: $(DEMO)/installed      ## judge what ships, from the installed wheel with base dependencies only
	$(DEMO)/$(SCRIPTS)/conformance demo

test: check                  ## lint, types and all tests
	$(RUN)/python -m pytest -n $(JOBS)

check: $(DEV)/installed
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/conformance lint

format: $(DEV)/installed
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

bench: $(DEV)/installed      ## candidates interleaved in one run, ratios of medians
	$(RUN)/python -m pip install -q -e ".[dev,bench]"
	for each in sse check memory cassettes start; do $(RUN)/python tests/benchmarks/bench_$$each.py || exit 1; done

MINUTES ?= 10
fuzz: $(DEV)/installed       ## hostile streams judged both ways; MINUTES=10, CONFORMANCE_CAPTURES=folder
	$(RUN)/python -m tests.fuzz.streams --minutes $(MINUTES)

cassettes: $(DEV)/installed  ## write the shipped synthetic cassettes anew
	$(RUN)/python -m tests.authoring

docs: $(DEV)/installed       ## write the pages about rules, profiles and mutants anew
	rm -rf docs/rules
	$(RUN)/conformance explain --pages docs/rules
	$(RUN)/python -m tests.authoring.profile_table
	$(RUN)/conformance mutate --matrix --format markdown > docs/mutation-matrix.md

$(DEMO)/installed: pyproject.toml $(shell find conformance specs cassettes -type f -not -name '*.pyc')
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/$(SCRIPTS)/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps .
	$(DEMO)/$(SCRIPTS)/python -m pip install -q --disable-pip-version-check .
	touch $@

$(DEV)/installed: pyproject.toml
	$(PYTHON) -m venv $(DEV)
	$(DEV)/$(SCRIPTS)/python -m pip install -q --disable-pip-version-check -e ".[dev]"
	touch $@

clean:
	rm -rf $(DEMO) $(DEV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
