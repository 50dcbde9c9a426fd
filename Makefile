# Everything a fresh machine with Python >= 3.11 and make needs. Set-up happens once, in .venv, and again only when
# pyproject.toml or setup.py changes. A sentence after two number signs is what `make` prints about a target.
PYTHON ?= python3
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help app docs setup test test-all test-lowest check format chaos release docker

help: ## Print these targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS='|' read -r target sentence; do printf '%-18s %s\n' "$$target" "$$sentence"; done

app: $(VENV)/.app ## Set up what is missing and open the app in a browser, on this computer only.
	$(BIN)/recap app

setup: $(STAMP) ## Make .venv with everything, also for development.

test: $(STAMP) ## Run the fast tests and the doctests.
	$(BIN)/python -m pytest -n 2 --dist loadfile -q -m "not slow and not e2e"

test-all: $(STAMP) ## Run every test: the slow ones and a real browser too (Chromium from your system).
	$(BIN)/python -m pytest -n 2 --dist loadfile -q

test-lowest: ## Run the fast tests with the lowest version of every dependency, in .venv-lowest.
	test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --constraint constraints-lowest.txt --editable ".[app,dev]"
	.venv-lowest/bin/python -m pytest -n 2 --dist loadfile -q -m "not slow and not e2e"

check: $(STAMP) ## Check format, lint, types, import rules, words, names and Dockerfile; no test runs.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.check_words
	$(BIN)/python -m tests.check_names
	$(BIN)/hadolint Dockerfile

format: $(STAMP) ## Format the code and mend what lint can mend.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP) ## Build the docs with the library's reference as a site in build/docs, and check every link.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

chaos: $(STAMP) ## Kill commands 600 times at random moments, then run 10,000 damaged inputs: about an hour.
	nice $(BIN)/python -m tests.chaos.kills --kills 200
	nice $(BIN)/python -m tests.chaos.fuzz --cases 10000 --minutes 600

release: $(STAMP) ## Build wheel and sdist in dist, and try the wheel in an empty environment.
	$(BIN)/python -m tests.release

docker: ## Build the image `recap`: the app on the invented city, read-only, without a GPU.
	docker build --build-arg PIP_EXTRA_INDEX_URL=$(TORCH_INDEX) --tag recap .

$(VENV)/.app: EXTRAS = app
$(STAMP): EXTRAS = app,dev
$(VENV)/.app $(STAMP): pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit("recap needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	@touch $@ $(VENV)/.app
