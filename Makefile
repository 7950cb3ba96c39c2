# What there is to do with a clone. `make demo`, `make test` and `make lab` need nothing but
# Python 3.11 or newer, and apt for the programs that are not Python.

PYTHON ?= python3
BIN := .venv/bin
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
NAMES := value backward checkpoint

.PHONY: demo test lab install system browser generated release solutions tables lint bench clean

demo: install system
	$(BIN)/autograder demo

test: install system browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

lab: install system
	cd release && ../$(BIN)/jupyter lab

bench: install system
	$(BIN)/python benchmarks/one_notebook.py

install: .venv/installed

.venv/installed: pyproject.toml autograder/pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements.txt
	touch $@

# The programs that pip cannot bring. Each line does nothing where they are there already.
system:
	@command -v bwrap >/dev/null && command -v dot >/dev/null || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq bubblewrap graphviz fonts-dejavu-core; }

browser:
	@command -v chromium >/dev/null || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium; }

# Everything in the clone that is made from something else in it.
generated: tables release solutions

tables: install
	$(BIN)/python -m autograder.tables

release: install
	$(BIN)/python -m autograder.publishing release $(NAMES)

solutions: tables
	$(BIN)/python -m autograder.publishing solutions $(NAMES)

lint: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy

clean:
	rm -rf .venv artefacts
