# demo: the main job on embedded data.  test: lint, types, layers and every test.  bench: speed, as ratios in one run.
# faults: kills, full disks, damaged files; TIMES=25 is how often each process is killed, SEED=1 decides when.
# site: the documentation as pages to browse, in build/site.  docs: the figures and tables that took hours to compute.
# Each does its own set-up in .venv; PYTHON names another interpreter (3.11 or newer).
# The tests have three workers because some of them wait. Those of PostgreSQL start a server of their own, and those of pages
# a headless Chromium. Root gets both from Debian's packages; without them the tests are skipped, and pytest says so at the end.
PYTHON ?= python3
BIN := .venv/bin
# or every command that is tested or timed would compile our modules anew, which an installed package does not
unexport PYTHONDONTWRITEBYTECODE
HAS_POSTGRESQL := { ls /usr/lib/postgresql/*/bin/initdb || command -v initdb; } >/dev/null 2>&1
APT_POSTGRESQL := DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends -o Dpkg::Options::=--force-confold postgresql
# the programs alone: without the file, Debian would make a cluster and start it
GET_POSTGRESQL := { { [ -e /etc/postgresql-common ] || { mkdir /etc/postgresql-common \
  && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf; }; } \
  && { $(APT_POSTGRESQL) || { apt-get update -qq && $(APT_POSTGRESQL); }; }; }
HAS_CHROMIUM := { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null 2>&1
APT_CHROMIUM := DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium fonts-liberation fonts-dejavu-core
GET_CHROMIUM := { $(APT_CHROMIUM) || { apt-get update -qq && $(APT_CHROMIUM); }; }

.PHONY: demo test bench faults site docs clean

demo: .venv/installed
	@$(BIN)/debandit demo

test: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 3 --dist worksteal -r s

# make bench RACE=directory compares with a hand-written kernel as well
bench: .venv/installed
	$(BIN)/python benchmarks/rounds.py $(if $(RACE),--race $(RACE))
	$(BIN)/python benchmarks/study.py
	$(BIN)/python benchmarks/batches.py
	$(BIN)/python benchmarks/chances.py
	$(BIN)/python benchmarks/control_variates.py
	$(BIN)/python benchmarks/worlds.py
	$(BIN)/python benchmarks/start_up.py
	$(BIN)/python benchmarks/reading.py
	$(BIN)/python benchmarks/report.py

faults: .venv/tested
	cd tests && ../$(BIN)/python -m faults $(if $(TIMES),--times $(TIMES)) $(if $(SEED),--seed $(SEED))

# without warnings and without the network
site: .venv/sited
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site
	@echo "The documentation is in build/site/index.html."

# the pages on the paper's tables, on accuracy, on coverage, on Hadad et al.'s setting and on weekends, from the studies' own output,
# and other figures: it takes hours, and goes on where it was stopped
docs: .venv/installed
	$(BIN)/python docs/scripts/reproduce.py
	$(BIN)/python docs/scripts/measure_accuracy.py debandit-out/docs/accuracy
	$(BIN)/python docs/scripts/measure_coverage.py debandit-out/docs/coverage
	$(BIN)/python docs/scripts/measure_hadad.py debandit-out/docs/hadad
	$(BIN)/python docs/scripts/measure_drift.py debandit-out/docs/weekends
	$(BIN)/python docs/scripts/draw_figures.py

clean:
	rm -rf .venv build

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "debandit needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up .venv, once ..."
	@$(PYTHON) -m venv .venv \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -qq python3-venv \
	  && $(PYTHON) -m venv .venv; }
	@touch $@

.venv/installed: .venv/python pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/sited: .venv/installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

.venv/tested: .venv/installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@$(HAS_POSTGRESQL) || { [ "$$(id -u)" = 0 ] && command -v apt-get && $(GET_POSTGRESQL); } >/dev/null 2>&1; \
	  $(HAS_POSTGRESQL) || echo "No PostgreSQL server here (apt-get install postgresql): its tests will be skipped."
	@$(HAS_CHROMIUM) || { [ "$$(id -u)" = 0 ] && command -v apt-get && $(GET_CHROMIUM); } >/dev/null 2>&1; \
	  $(HAS_CHROMIUM) || echo "No Chromium here (apt-get install chromium): the tests of pages will be skipped."
	@touch $@
