# Everything here sets itself up: a machine with Python 3.11 or newer and make is enough (the Spark tests fetch Java).
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
SPARK := .venv/.spark
DEBIAN := .venv/.debian
PUBLISH := .venv/.publish
# Not all of what is installed is run: Python compiles what is imported, when it is.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
# A worker for each core is enough: the threads of a linear algebra library, on top, wait for each other's core and spin.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q
SEEDS ?= 0
# Many tests start processes of their own: compiled files are kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo site claims test test-all test-slow test-spark theory bench bench-spark lint dist clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "unworn needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(PIP) --editable '.[dev]'
	@touch $@

$(SPARK): $(READY)
	.ci/java
	$(PIP) --editable '.[spark]'
	@touch $@

$(DEBIAN): $(READY)
	.ci/debian
	@touch $@

$(PUBLISH): $(READY)
	$(PIP) --editable '.[publish]'
	@touch $@

demo: $(READY)  ## An adaptive analyst against a naive and a protected holdout
	$(BIN)/unworn demo

site: $(READY)  ## These pages, the API and the notebooks as a site in build/site/ (half a minute)
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -d build/doctrees docs build/site
	@echo "open build/site/index.html"

claims: $(READY)  ## Run every claim of the lab again, and make its page and figures anew (a minute or two)
	$(BIN)/unworn lab run all --quick --out build/claims
	$(BIN)/python -m tests.docs.claims_page build/claims

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint  ## Style, types, layers, unit tests and doctests (a few minutes)
	$(PYTEST) -n auto -m 'not theory and not slow and not spark and not postgres and not browser'
	@echo "left out: tests marked 'slow' (make test-all: 1,000 kills, 2,000 damaged ledgers, the installed wheel, the demo), 'spark' (make test-all:" \
	  "a session, a Connect server, a cluster of three processes), 'postgres' and 'browser' (make test-all) and the full sizes of 'theory' (make theory)"

test-all: $(READY) $(SPARK) $(DEBIAN)  ## What 'make test' leaves out because it is slow or needs Java, PostgreSQL or a browser
	$(MAKE) -j 2 test-slow test-spark

test-slow: $(READY) $(DEBIAN)
	$(PYTEST) -n auto --dist worksteal -m '(slow or postgres or browser) and not spark and not theory'

# In one process, beside the others: what is printed comes in one piece, at the end.
test-spark: $(SPARK)
	$(PYTEST) -m spark >.venv/spark.log 2>&1; code=$$?; cat .venv/spark.log; exit $$code

theory: $(DEBIAN)  ## The large simulations at full size, PostgreSQL's among them; SEEDS=3 for other random streams
	UNWORN_TEST_SEEDS=$(SEEDS) $(PYTEST) -n auto --dist worksteal -p tests.theory.progress -m theory

bench: $(READY) $(DEBIAN)  ## Widths, certificates and speed, as ratios measured side by side
	$(BIN)/python benchmarks/house.py
	$(BIN)/python benchmarks/widths.py
	$(BIN)/python benchmarks/certificates.py
	$(BIN)/python benchmarks/ask.py
	$(BIN)/python benchmarks/noise.py
	$(BIN)/python benchmarks/draws.py
	$(BIN)/python benchmarks/weights.py
	$(BIN)/python benchmarks/release.py
	$(BIN)/python benchmarks/optimisation.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/ledger.py
	$(BIN)/python benchmarks/gate.py
	$(BIN)/python benchmarks/gate_flights.py
	$(BIN)/python benchmarks/lab.py
	$(BIN)/python benchmarks/server.py

bench-spark: $(SPARK)  ## The same for rows in Spark
	$(BIN)/python benchmarks/spark.py

dist: $(PUBLISH)  ## What is published, in dist/: the wheel and the sources, checked, the same bytes whenever they are built
	rm -rf dist
	$(BIN)/python -m hatchling build
	$(BIN)/twine check --strict dist/*

clean:  ## Remove the virtual environment, caches and what was built
	rm -rf .venv dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build/doctrees build/jupyter_execute build/site build/claims
