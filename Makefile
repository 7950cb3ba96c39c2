# What there is to do with a clone. `make demo`, `make test` and `make lab` need nothing but
# Python 3.11 or newer, and apt for the programs that are not Python.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
PROXY := $(VENV)/node_modules/.bin/configurable-http-proxy
NAMES := value backward checkpoint mlp
# What the tests of a file share is made once.
SIDE_BY_SIDE := -n auto --dist loadfile --no-loadscope-reorder
BY_FILE := $(BIN)/pytest $(SIDE_BY_SIDE)
# The grader's own tests, and then this course's: two projects, each with its settings of pytest.
# One of them may have no test that ONLY names: pytest ends with 5.
NONE_IS_FINE = $(if $(ONLY),|| test $$? = 5)
define LINT
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
endef
define both
	$(1) $(2) autograder/tests $(NONE_IS_FINE)
	$(1) $(2) tests $(NONE_IS_FINE)
endef

.PHONY: demo check test test-all campaigns attacks versions audit lab browser hub lesson docs site dist \
  install system npm \
  for-tests generated release solutions tables pictures lint bench \
  clean

demo: install system
	$(BIN)/autograder demo $(firstword $(NAMES))

# Lint, types and the tests that run in one process: needs no program that is not Python.
check: install
	$(LINT)
	$(call both,$(BY_FILE),-m "not (subprocess or external or full or campaign)")

# The same, and student code in the sandbox, and all commands.
test: install system
	$(LINT)
	$(call both,$(BY_FILE),-m "not (external or full or campaign)")

# The rest of what protects a user: browsers, servers, whole corpora.
test-all: install system for-tests $(PROXY)
	$(call both,$(BY_FILE),-m "(external or full) and not campaign")

# The long ones, from a seed that is printed: hours. `make campaigns ONLY=floods` runs those that
# pytest's -k finds. Without ONLY, also all attacks with the rights that an ordinary container
# leaves, the audit of every case, and `make test` on every Python that is here.
CAMPAIGN_SEED ?= $(shell date +%s)
ONLY :=
CAMPAIGN := $(BIN)/pytest $(if $(ONLY),-k "$(ONLY)") --hypothesis-seed=$(CAMPAIGN_SEED)
campaigns: export CAMPAIGN_SEED := $(CAMPAIGN_SEED)
campaigns: install system for-tests $(PROXY)
	@echo "CAMPAIGN_SEED=$(CAMPAIGN_SEED)"
	$(call both,$(CAMPAIGN) $(SIDE_BY_SIDE),-m "(campaign or sized) and not external")
	$(call both,$(CAMPAIGN),-m "(campaign or sized) and external")
	$(if $(ONLY),,$(MAKE) attacks audit versions)

# All attacks, floods and forgeries, in either kind of sandbox, and once more with the rights that
# an ordinary container leaves.
ATTACKS := $(addprefix autograder/tests/test_,$(addsuffix .py,attacks floods same_account \
  sandbox policy secrets))
IN_A_CONTAINER := $(BIN)/python autograder/tests/helpers/as_in_a_container.py
attacks: export CAMPAIGN_SEED := $(CAMPAIGN_SEED)
attacks: install system
	$(BIN)/pytest $(ATTACKS)
	$(BIN)/pytest tests/test_forgeries.py
	$(IN_A_CONTAINER) $(BIN)/pytest $(ATTACKS)
	$(IN_A_CONTAINER) $(BIN)/pytest tests/test_forgeries.py

# `make test` on every Python from 3.11 to 3.14 that is here, each in an environment of its own.
versions:
	@for version in 3.11 3.12 3.13 3.14; do \
	  for python in $$(command -v python$$version) $$HOME/.pyenv/versions/$$version.*/bin/python none; do \
	    "$$python" -c "" 2>/dev/null && break; done; \
	  if [ "$$python" = none ]; then \
	    echo "Python $$version is not on this machine: left out"; continue; fi; \
	  $(MAKE) test VENV=.venv-$$version PYTHON="$$python" || exit 1; \
	done

# What students get, in a copy of its own: work in artefacts/lab is kept and never handed out.
lab: install system
	$(BIN)/autograder lab
	cd artefacts/lab && JUPYTER_CONFIG_PATH=$(CURDIR)/course/jupyter/lab \
	  ../../$(BIN)/jupyter lab $(if $(SUDO),,--allow-root) \
	  --LabApp.default_url=/lab/tree/$(firstword $(NAMES))/$(firstword $(NAMES)).ipynb

# The course in a browser tab, from a server on this machine alone: artefacts/browser is the site.
browser: install system npm
	$(BIN)/autograder publish --browser $(NAMES)
	@echo "The course is at http://127.0.0.1:8000/ until Ctrl-C"
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory artefacts/browser 8000

# A JupyterHub on this machine alone, with a class and an instructor, for a trial.
hub: install system $(PROXY)
	$(BIN)/autograder hub

# A class by stock nbgrader and by this project, and classes of up to a thousand by this project: 45
# minutes on two cores, on a machine that does nothing else.
bench: install system
	$(BIN)/python benchmarks/grading.py class

# Holds the grading tests against all that is known to be wrong or right, and one submission's
# reports against one another.
audit: install system
	$(BIN)/autograder audit --page docs/audit.md
	REPEATS=200 SEEDS=20 $(BIN)/pytest tests/test_audit.py -k "repeated or seeds"

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml autograder/pyproject.toml autograder/coursecheck/pyproject.toml \
  constraints.txt requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements.txt
	cp course/jupyter/autograd-course.json $(VENV)/etc/jupyter/jupyter_server_config.d
	touch $@

# The programs that pip cannot bring. Each line does nothing where they are there already.
system:
	@command -v bwrap >/dev/null && command -v dot >/dev/null || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq bubblewrap graphviz fonts-dejavu-core; }

# The wheels: looked into, installed in an empty environment, and tried on the sample class there.
dist: export DIST := artefacts/dist
dist: install system
	$(BIN)/pytest -s autograder/tests/test_dist.py
	$(BIN)/pytest -s tests/test_dist.py

# What JupyterHub sends everybody's requests through.
$(PROXY): | $(VENV)/installed npm
	npm install --silent --no-fund --no-audit --prefix $(VENV) configurable-http-proxy@5
	touch $@

# What brings Python for the browser, and the hub's proxy.
npm:
	@command -v npm >/dev/null || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq npm; }

# What only the tests need: a browser and a database server.
for-tests:
	@command -v chromium >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq chromium postgresql; }

# The lesson and the slides as pages for the browser: artefacts/lesson/index.html.
lesson: install system
	rm -rf artefacts/lesson
	$(BIN)/autograder lesson artefacts/lesson

# The site with all guides, for the browser, offline: artefacts/docs/index.html.
docs: install
	rm -rf artefacts/docs
	$(BIN)/python -m sphinx -q -W --keep-going -E -d $(VENV)/docs docs artefacts/docs

# The course for a public web page, to learn alone: browser edition, lesson and docs.
site: install system npm docs
	rm -rf artefacts/site
	$(BIN)/autograder publish --browser --self-study --output artefacts/site $(NAMES)
	cp -r artefacts/docs artefacts/site/docs

# Everything in the clone that is made from something else in it.
generated: tables release solutions

tables: install
	$(BIN)/autograder tables

release: install
	$(BIN)/autograder release

solutions: tables
	$(BIN)/autograder release --solutions

# The README's pictures, from the real thing: docs/pictures.
pictures: install system for-tests
	PYTHONPATH=grading_tests $(BIN)/python docs/readme_pictures.py

lint: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy

# All that was installed or built. Gradebook, key and submissions stay.
CACHES := __pycache__ *.egg-info build dist .hypothesis .ipynb_checkpoints .mypy_cache .pytest_cache .ruff_cache
clean:
	rm -rf .venv .venv-* artefacts $(CACHES)
	find autograder benchmarks course docs grading_tests release solutions source tests \
	  \( -false $(foreach name,$(CACHES),-o -name '$(name)') \) -prune -exec rm -rf {} +
