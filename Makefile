# Two commands do all the set-up: `make demo` and `make test`.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
  SCRIPTS := Scripts
else
  SCRIPTS := bin
endif
BUILD := .venv-build
DEMO  := .venv-demo
DEV   := .venv
RUN   = $(DEV)/$(SCRIPTS)
SITE  := .venv-site
LOCK  := .venv-lock
VALUES := build/values/built_values.pickle
JOBS ?= auto
# The one package that no lock names. Where the package index gives a build for GPUs under this name,
# name a CPU build instead: it is all that is needed here, and far smaller.
TORCH ?= torch==2.13.0

# Environments have exact versions with hashes; `make lock` takes newer ones.
INSTALL   := $(PYTHON) requirements/install.py
DEV_STEPS ?= --lock requirements/dev.txt --named "$(TORCH)" --editable ""

NEEDS_NOTHING := not long and not live and not hostile and not docs

# Without compiled files every process that a test starts would compile the package anew: 1 second.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-live test test-slow tests costs test-docs test-newest test-oldest site dist lock test-live test-long test-hostile check format bench fuzz cassettes docs clean

demo: $(DEMO)/installed      ## judge what ships, from the installed wheel with base dependencies only
	$(DEMO)/$(SCRIPTS)/conformance demo

demo-live: $(DEV)/installed  ## the reference server: a thinking answer in every API, judged, recorded, replayed
	$(RUN)/python -m tests.live.demo

test: $(VALUES)              ## in minutes a third of the shipped mutants, each operator once, and a part of each large family of cases; lint and types at the same time
	@mkdir -p build; $(MAKE) --no-print-directory check > build/check.log 2>&1 & check=$$!; \
	trap 'kill $$check 2>/dev/null' INT TERM; failed=; \
	$(RUN)/python -m pytest -n $(JOBS) -m "not slow and $(NEEDS_NOTHING)" || failed="$$failed tests"; \
	wait $$check || failed="$$failed check"; \
	cat build/check.log; \
	[ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; }

test-newest:                 ## `make test` with the newest of everything, not of the lock, in an environment made anew
	rm -rf .venv-newest
	$(MAKE) test DEV=.venv-newest DEV_STEPS='--named "$(TORCH)" --editable "[dev,reference,oracles,bench]"'

# Oldest of what pyproject.toml names; what that depends on is as new as fits, so an old package may
# call what a newer one has deprecated (typer 0.20 does, of click 8.5).
OLDEST_TORCH ?= torch==2.5.0
test-oldest: $(LOCK)/installed  ## the tests with the lower bounds of pyproject.toml, in an environment made anew
	rm -rf .venv-oldest
	mkdir -p build
	$(LOCK)/$(SCRIPTS)/uv pip compile -q --resolution lowest-direct --python-version 3.11 --generate-hashes --no-emit-package torch \
	  --extra dev --extra reference --extra oracles --extra bench pyproject.toml requirements/build.in -o build/oldest.txt
	$(INSTALL) .venv-oldest --lock build/oldest.txt --named "$(OLDEST_TORCH)" --editable ""
	.venv-oldest/$(SCRIPTS)/python -m pytest -n $(JOBS) -W default::DeprecationWarning -m "not slow and $(NEEDS_NOTHING)"

costs:                       ## measure anew what the cases of `make tests` take: tests/costs.json
	rm -rf build/costs
	$(RUN)/python -m pytest -n $(JOBS) --write-costs=build/costs -m "$(NEEDS_NOTHING)"
	$(RUN)/python -m tests.costs build/costs

test-slow: $(VALUES)         ## what `make test` leaves out for its time: no GPU and no other server either
	$(RUN)/python -m pytest -n $(JOBS) -m "slow and $(NEEDS_NOTHING)"

tests: $(VALUES)             ## the tests of `make test` and `make test-slow` in one run: they are collected once
	$(RUN)/python -m pytest -n $(JOBS) -m "$(NEEDS_NOTHING)"

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
	$(RUN)/python -m tests.authoring.file_table
	$(RUN)/python -m tests.authoring.summary_schema
	$(RUN)/python -m tests.systems.pages
	$(RUN)/python -m tests.systems.matrix
	$(RUN)/python -m tests.authoring.report_picture
	$(RUN)/conformance board website/board --again
	$(RUN)/conformance mutate --matrix --format markdown > docs/mutation-matrix.md

lock: $(LOCK)/installed      ## write requirements/*.txt anew, with the newest versions; LOCK_ARGS="--upgrade-package NAME" takes one
	PATH="$(CURDIR)/$(LOCK)/$(SCRIPTS):$$PATH" $(PYTHON) requirements/lock.py $(LOCK_ARGS)

PACKAGED := pyproject.toml hatch_build.py README.md LICENSE NOTICE $(shell find conformance specs cassettes reference_impl -type f -not -path '*/__pycache__/*')

dist: $(BUILD)/installed     ## wheel and sdist in dist/, both tried: the sdist builds the same wheel, and the wheel runs the demo
	rm -rf dist
	$(BUILD)/$(SCRIPTS)/python requirements/dist.py dist
	$(INSTALL) .venv-dist --lock requirements/base.txt --wheel dist/*.whl
	cd dist && "$(CURDIR)/.venv-dist/$(SCRIPTS)/conformance" demo
	rm -rf .venv-dist

$(DEMO)/installed: $(PACKAGED) $(BUILD)/installed requirements/base.txt
	rm -rf build/wheel
	$(BUILD)/$(SCRIPTS)/python -m hatchling build -t wheel -d build/wheel
	$(INSTALL) $(DEMO) --lock requirements/base.txt --wheel build/wheel/*.whl
	touch $@

$(BUILD)/installed: requirements/build.txt
	$(INSTALL) $(BUILD) --lock requirements/build.txt
	touch $@

$(SITE)/installed: requirements/site.txt
	$(INSTALL) $(SITE) --lock requirements/site.txt
	touch $@

$(LOCK)/installed:
	$(INSTALL) $(LOCK) --named "uv>=0.9,<1"
	touch $@

$(DEV)/installed: pyproject.toml requirements/dev.txt
	$(INSTALL) $(DEV) $(DEV_STEPS)
	touch $@

# Rules and profiles as values: every process that a test starts would read them from YAML: 0.7 seconds.
$(VALUES): $(DEV)/installed $(shell find conformance specs -name '*.py' -o -name '*.yaml')
	$(RUN)/python -c 'from conformance.judging.building import build_for_checkout as build; build()'

clean:
	rm -rf .venv .venv-* build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
