# What there is to do with a clone. `make demo`, `make test` and `make lab` need nothing but
# Python 3.11 or newer, and apt for the programs that are not Python.

PYTHON ?= python3
BIN := .venv/bin
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
PROXY := .venv/node_modules/.bin/configurable-http-proxy
NAMES := value backward checkpoint mlp

.PHONY: demo test audit damaged kills fuzz nbgrader peers lab hub lesson docs install system \
  for-tests generated release solutions map tables lint bench \
  bench-large speed-gate clean

demo: install system
	$(BIN)/autograder demo

test: install system for-tests $(PROXY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -m browser
	$(BIN)/pytest -n auto --dist worksteal -m "not browser"

lab: install system
	$(BIN)/python -m autograder.lesson release/lesson $(NAMES)
	cd release && ../$(BIN)/jupyter lab $(if $(SUDO),,--allow-root)

# A JupyterHub on this machine alone, with a class and an instructor, for a trial.
hub: install system $(PROXY)
	$(BIN)/python -m autograder.hub

# A thousand damaged copies of honest submissions: how many keep their marks.
damaged: install system
	$(BIN)/python tests/damaged_copies.py --copies 1000

# The grading of a class is killed at two hundred random moments and started again: what is lost?
kills: install system
	$(BIN)/python tests/kill_campaign.py --kills 200

# What the protocol and the reader of notebooks make of thousands of strange inputs.
fuzz: install
	FUZZ_EXAMPLES=5000 $(BIN)/pytest tests/test_fuzzing.py --hypothesis-show-statistics

# All of nbgrader's own tests that concern grading, on this course's configuration.
nbgrader: install system
	NBGRADER_TESTS=all $(BIN)/pytest tests/test_nbgrader_own.py

# Where the time goes, how it grows, and what others take for the same notebooks: an hour or so,
# for a machine that does nothing else. otter-grader comes from the package index.
bench: install system
	$(BIN)/python benchmarks/one_notebook.py --page README.md
	$(BIN)/python benchmarks/profile_path.py --page docs/performance.md
	$(BIN)/python benchmarks/whole_class.py --repeats 3 --page docs/performance.md
	$(BIN)/python benchmarks/otter_grader.py --repeats 3 --page docs/performance.md
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/scaling.py --draw
	$(BIN)/python benchmarks/feedback_pages.py --at-least 5
	$(BIN)/python benchmarks/every_mistake.py --page docs/performance.md

# A thousand students' submissions to each assignment, and to three by one command, and a hundred to
# mlp, whose networks train: seconds, and the grader's memory.
bench-large: install system
	$(BIN)/python benchmarks/scaling.py --students 1000 \
	  --assignments value backward checkpoint value,backward,checkpoint mlp:100
	$(BIN)/python benchmarks/scaling.py --draw

# Fails where a notebook takes more than a seventh of what it takes stock nbgrader.
speed-gate: install system
	$(BIN)/python benchmarks/speed_gate.py --at-least 7

# Holds the grading tests against all that is known to be wrong or right, and one submission's
# reports against one another.
audit: install system
	$(BIN)/autograder audit --page docs/audit.md
	REPEATS=200 SEEDS=20 $(BIN)/pytest tests/test_audit.py -k "repeated or seeds"

peers: install system
	$(BIN)/python benchmarks/peer_suites.py --page docs/audit.md

install: .venv/installed

.venv/installed: pyproject.toml autograder/pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements.txt
	cp course/jupyter/autograd-course.json .venv/etc/jupyter/jupyter_server_config.d
	touch $@

# The programs that pip cannot bring. Each line does nothing where they are there already.
system:
	@command -v bwrap >/dev/null && command -v dot >/dev/null || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq bubblewrap graphviz fonts-dejavu-core; }

# What JupyterHub sends everybody's requests through.
$(PROXY): | .venv/installed
	@command -v npm >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq npm; }
	npm install --silent --no-fund --no-audit --prefix .venv configurable-http-proxy@5
	touch $@

# What only the tests need: a browser and a database server.
for-tests:
	@command -v chromium >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium postgresql; }

# The lesson and the slides as pages for the browser: artefacts/lesson/index.html.
lesson: install system
	$(BIN)/python -m autograder.lesson artefacts/lesson

# The site with all guides, for the browser, offline: artefacts/docs/index.html.
docs: install
	rm -rf artefacts/docs
	$(BIN)/python -m sphinx -q -W --keep-going -E -d .venv/docs docs artefacts/docs

# Everything in the clone that is made from something else in it.
generated: tables release solutions map

tables: install
	$(BIN)/python -m autograder.tables

release: install
	$(BIN)/python -m autograder.publishing release $(NAMES)

solutions: tables
	$(BIN)/python -m autograder.publishing solutions $(NAMES)

# Where everything is: docs/curriculum-map.md, from the rows beside it.
map: install
	$(BIN)/python -m autograder.curriculum

lint: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy

clean:
	rm -rf .venv artefacts
