# Everything a fresh machine with Python >= 3.11 and make needs. Set-up happens once, in .venv, and again only when
# pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: app setup test test-all test-lowest check format

app: $(STAMP)
	$(BIN)/recap app

setup: $(STAMP)

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 -q -m "not slow and not e2e"

test-all: $(STAMP)
	$(BIN)/python -m pytest -n 2 -q

test-lowest:
	test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --constraint constraints-lowest.txt --editable ".[dev]"
	.venv-lowest/bin/python -m pytest -n 2 -q -m "not slow and not e2e"

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 -q -m "not slow and not e2e"

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("recap needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $(STAMP)
