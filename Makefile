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
SITE := .venv-site
JOBS ?= auto
# Installed before anything that depends on torch. Where the package index gives a build for GPUs
# under this name, name a CPU build instead: it is all that is needed here, and far smaller.
TORCH ?= torch==2.13.0

NEEDS_NOTHING := not long and not live and not hostile and not docs

# Without compiled files every process that a test starts would compile the package anew: 1 second.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-live test test-slow test-docs site test-live test-long test-hostile check format bench fuzz cassettes docs clean

demo: $(DEMO)/installed      ## judge what ships, from the installed wheel with base dependencies only
	$(DEMO)/$(SCRIPTS)/conformance demo

demo-live: $(DEV)/installed  ## the reference server: a thinking answer in every API, judged, recorded, replayed
	$(RUN)/python -m tests.live.demo

test: check                  ## lint, types, and in minutes every mutant and a part of each large family of cases
	$(RUN)/python -m pytest -n $(JOBS) -m "not slow and $(NEEDS_NOTHING)"

test-slow: $(DEV)/installed  ## what `make test` leaves out for its time: no GPU and no other server either
	$(RUN)/python -m pytest -n $(JOBS) -m "slow and $(NEEDS_NOTHING)"

test-docs: $(DEV)/installed  ## every command and code block of README and docs, in a fresh environment
	$(RUN)/python -m pytest tests/docs -m docs

site: $(DEV)/installed $(SITE)/installed  ## docs/ as a site in build/site/out, strictly; without npm it has no judge in the browser
	$(RUN)/python -m website.build build/site $(if $(shell command -v npm),,--no-judge)
	$(SITE)/$(SCRIPTS)/zensical build --strict --config-file build/site/zensical.toml
	SITE=build/site/out $(RUN)/python -m pytest tests/website -m docs

test-live: $(DEV)/installed  ## real servers and clients; what is not installed is skipped visibly
	$(RUN)/python -m pytest -m live

test-long: $(DEV)/installed  ## what takes minutes: training the model anew, a thousand rounds
	$(RUN)/python -m pytest -m long -n $(JOBS)

test-hostile: $(DEV)/installed  ## hostile servers, clients and files, within limits of time and memory (Linux)
	$(RUN)/python -m pytest tests/hostile -m "hostile or not hostile" -n $(JOBS)

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
	for each in real sse check memory cassettes start engine replay proxy redaction live run pytest corpus; do $(RUN)/python tests/benchmarks/bench_$$each.py || exit 1; done

MINUTES ?= 10
SEED ?=
fuzz: $(DEV)/installed       ## hostile streams judged both ways, then hostile files; MINUTES=10 each, SEED=n goes on from there, CONFORMANCE_CAPTURES=folder
	$(RUN)/python -m tests.fuzz.streams --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))
	$(RUN)/python -m tests.fuzz.readers every --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

cassettes: $(DEV)/installed  ## write the shipped synthetic cassettes anew
	$(RUN)/python -m tests.authoring

docs: $(DEV)/installed       ## write the pages about rules, profiles, systems and mutants anew
	rm -rf docs/rules
	$(RUN)/conformance explain --pages docs/rules
	$(RUN)/python -m tests.authoring.profile_table
	$(RUN)/python -m tests.authoring.dialect_table
	$(RUN)/python -m tests.systems.pages
	$(RUN)/python -m tests.systems.matrix
	$(RUN)/python -m tests.authoring.report_picture
	$(RUN)/conformance mutate --matrix --format markdown > docs/mutation-matrix.md

$(DEMO)/installed: pyproject.toml hatch_build.py $(shell find conformance specs cassettes -type f -not -name '*.pyc')
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/$(SCRIPTS)/python -m pip install -q --disable-pip-version-check --force-reinstall --no-deps .
	$(DEMO)/$(SCRIPTS)/python -m pip install -q --disable-pip-version-check .
	touch $@

$(SITE)/installed: website/requirements.txt
	$(PYTHON) -m venv $(SITE)
	$(SITE)/$(SCRIPTS)/python -m pip install -q --disable-pip-version-check -r website/requirements.txt
	touch $@

$(DEV)/installed: pyproject.toml
	$(PYTHON) -m venv $(DEV)
	$(DEV)/$(SCRIPTS)/python -m pip install -q --disable-pip-version-check "$(TORCH)"
	$(DEV)/$(SCRIPTS)/python -m pip install -q --disable-pip-version-check -e ".[dev,reference,oracles]"
	touch $@

clean:
	rm -rf $(DEMO) $(DEV) $(SITE) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
