# Everything here sets itself up: a machine with Python 3.11 or newer and make is enough (the Spark tests fetch Java).
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
SPARK := .venv/.spark
PYTEST := $(BIN)/python -m pytest -q
SEEDS ?= 0
# Many tests start processes of their own: compiled files are kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo test test-all theory bench bench-spark lint clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "unworn needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(SPARK): $(READY)
	.ci/java
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[spark]'
	@touch $@

demo: $(READY)  ## An adaptive analyst against a naive and a protected holdout
	$(BIN)/unworn demo

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint  ## Style, types, layers, unit tests and doctests (a few minutes)
	$(PYTEST) -n auto -m 'not theory and not slow and not spark'
	@echo "left out: tests marked 'slow' (make test-all: 1,000 kills, 2,000 damaged ledgers, the installed wheel, the demo), 'spark' (make test-all:" \
	  "a session, a Connect server, a cluster of three processes) and the full sizes of 'theory' (make theory)"

test-all: $(READY) $(SPARK)  ## What 'make test' leaves out because it is slow or needs Java and Spark
	$(PYTEST) -n auto -m 'slow and not spark'
	$(PYTEST) -m spark

theory: $(READY)  ## The large simulations at full size; SEEDS=3 for other random streams
	UNWORN_TEST_SEEDS=$(SEEDS) $(PYTEST) -n auto --dist worksteal -p tests.theory.progress -m theory

bench: $(READY)  ## Widths, certificates and speed, as ratios measured side by side
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

bench-spark: $(SPARK)  ## The same for rows in Spark
	$(BIN)/python benchmarks/spark.py

clean:  ## Remove the virtual environment and caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
