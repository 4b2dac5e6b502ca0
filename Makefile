# The main commands are  make demo  and  make test.  The others are for development.
#
#   make check                       lint, types and the tests that need no server
#   make demo ARGS=--once            print one comparison and stop
#   make test ARGS="tests/indexer"   part of the tests

SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
CODE := indexer worker webapi deploy tests
TYPED := indexer worker webapi deploy
ARGS ?=

.PHONY: demo test check lint faults load fuzz evaluate bench lock audit docs screenshots clean
.DEFAULT_GOAL := demo

demo: .venv/runtime.stamp
	@exec $(BIN)/phrasecom demo $(ARGS)

test: lint elasticsearch chromium
	@$(BIN)/python -m pytest -W error -n 2 --dist loadfile $(ARGS)

check: lint
	@$(BIN)/python -m pytest -W error -q -m "not elasticsearch and not browser and not server and not slow" $(ARGS)

lint: .venv/dev.stamp
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy --strict $(TYPED)

# Kills processes and servers while they work; takes minutes. Prints a table (--json FILE).
faults: .venv/dev.stamp elasticsearch
	@$(BIN)/python -m tests.tools.run_faults $(ARGS)

# A running service under load: the rate this machine sustains for ten minutes, then twice that. Prints a table.
#   make load ARGS="--minutes 1 --engine embedded --json load.json"
load: .venv/dev.stamp elasticsearch
	@$(BIN)/python -m tests.tools.run_load $(ARGS)

# Thousands of generated requests to a running service: no 5xx, and no response outside the OpenAPI description.
#   make fuzz ARGS="600 600 20000"   requests per operation, seconds of request chains, minimum number of cases
fuzz: .venv/dev.stamp
	@$(BIN)/python -m tests.tools.run_fuzz $(ARGS)

evaluate: .venv/dev.stamp
	@$(BIN)/phrasecom evaluate $(or $(ARGS),all)

bench: .venv/dev.stamp elasticsearch
	@$(BIN)/phrasecom bench $(ARGS)

lock: .venv/dev.stamp
	@$(BIN)/python deploy/lock.py $(ARGS)

# Known vulnerabilities of the pinned packages. Needs a public database; fails if it cannot be reached.
audit: .venv/made.stamp
	@$(BIN)/python -m venv .cache/audit
	@.cache/audit/bin/pip install --quiet pip-audit==2.10.1
	@.cache/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements-dev.txt $(ARGS)

docs: .venv/dev.stamp
	@$(BIN)/python deploy/write_docs.py
	@$(BIN)/python -m webapi.schemas.openapi

# Takes the screenshots in docs/images again.
screenshots: .venv/dev.stamp chromium
	@PHRASECOM_TEST_SCREENSHOTS=1 $(BIN)/python -m pytest -W error tests/browser/test_screenshots.py $(ARGS)

clean:
	rm -rf .venv .cache .phrasecom .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the environment: created once, updated when a lock file changes -----------------------------

.venv/made.stamp:
	@bash deploy/make_venv.sh $(PYTHON)
	@touch $@

.venv/runtime.stamp: .venv/made.stamp requirements.txt pyproject.toml
	@echo "installing the pinned packages into .venv ..." >&2
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev.stamp: .venv/runtime.stamp requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.txt
	@touch $@

.PHONY: elasticsearch chromium
elasticsearch: .venv/dev.stamp
	@$(BIN)/python deploy/elasticsearch/assemble.py >/dev/null

chromium:
	@bash deploy/chromium.sh
