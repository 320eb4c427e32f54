# The verbs of the project. Written for GNU make 3.81 and later, which is what macOS ships.
.DEFAULT_GOAL := help
.PHONY: help run test nightly bench lint format docs clean

# The Python that builds .venv: `make PYTHON=/path/to/python3.12` chooses another. Else the first that is new enough.
PYTHON ?= python3
CANDIDATES := $(PYTHON) python3.13 python3.12 python3.11 python3.14

VENV := .venv
PY := $(VENV)/bin/python
# One stamp for each state of the two files and each place of the checkout (an editable install records its path).
STATE := $(shell { cat pyproject.toml constraints.txt; pwd; } | cksum | cut -d ' ' -f 1)
INSTALLED := $(VENV)/.installed-$(STATE)
BENCH_INSTALLED := $(VENV)/.installed-bench-$(STATE)
PIP_INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

run: $(INSTALLED)  ## install what is missing, load the demo collection on first start, open the app
	$(PY) -m workbench.cli serve

test: $(INSTALLED)  ## install what is missing, check style and types, run the test suite
	@status=0; \
	$(MAKE) --no-print-directory lint || status=1; \
	$(PY) -m pytest || status=1; \
	exit $$status

nightly: $(INSTALLED)  ## the full counts of properties, kills and attacks (hours)
	WORKBENCH_NIGHTLY=1 WORKBENCH_TEST_KILLS=200 WORKBENCH_TEST_REVOCATIONS=200 $(PY) -m pytest -o timeout=7200

bench: $(BENCH_INSTALLED)  ## the side-by-side measurements
	$(PY) benchmarks/quality.py
	$(PY) benchmarks/search_speed.py
	$(PY) benchmarks/store_commits.py

lint: $(INSTALLED)  ## ruff and mypy, all of them even if one finds something
	@status=0; \
	$(PY) -m ruff check --quiet || status=1; \
	$(PY) -m ruff format --check --quiet || { echo "make format would reformat the files above" >&2; status=1; }; \
	$(PY) -m mypy --no-error-summary || status=1; \
	exit $$status

format: $(INSTALLED)  ## lay the code out as `make lint` wants it
	$(PY) -m ruff check --fix --quiet
	$(PY) -m ruff format --quiet

docs: $(INSTALLED)  ## write the pages that are made from code: docs/settings.md
	$(PY) -m tests.support.settings_page

clean:  ## remove caches and build leftovers; keeps .venv and every collection
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# A virtual environment whose Python or pip no longer runs is built anew, from nothing.
$(INSTALLED):
	@$(PY) -m pip --version >/dev/null 2>&1 || { \
	  for python in $(CANDIDATES); do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && break; python=; \
	  done; \
	  if [ -z "$$python" ]; then \
	    echo "Python 3.11 or newer is needed: install it, or name it with make PYTHON=/path/to/python3" >&2; exit 2; \
	  fi; \
	  rm -rf $(VENV); \
	  if ! "$$python" -m venv $(VENV) >/dev/null 2>&1; then \
	    rm -rf $(VENV); \
	    echo "$$python cannot make virtual environments: install its venv module (Debian: apt install python3-venv)" >&2; \
	    exit 2; \
	  fi; }
	@echo "installing into $(VENV) (minutes, the first time) …"
	@$(PIP_INSTALL) -e '.[test]'
	@rm -f $(VENV)/.installed-* && touch $@

$(BENCH_INSTALLED): $(INSTALLED)
	@$(PIP_INSTALL) -e '.[test,bench]'
	@touch $@
