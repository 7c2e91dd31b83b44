# demo: the main job on embedded data.  test: lint, types, layers and every test.  bench: speed, as ratios in one run.
# fuzz: hostile input, very much of it; it goes on where it was stopped.
# faults: kills, full disks, damaged files; TIMES=25 is how often each process is killed, SEED=1 decides when.
# site: the documentation as pages to browse, in build/site.  docs: the figures and tables that took hours to compute.
# lock: renews the versions that are tested.  oldest: the unit tests with the oldest libraries allowed.  audit: known holes.
# Each does its own set-up in .venv; PYTHON names another interpreter (3.11 or newer).
# The tests have three workers because some of them wait. Those of PostgreSQL start a server of their own, and those of pages
# a headless Chromium. Root gets both from Debian's packages; without them the tests are skipped, and pytest says so at the end.
PYTHON ?= python3
BIN := .venv/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint .venv/constraints.txt
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

.PHONY: demo test fuzz faults bench site docs lock oldest audit clean

demo: .venv/installed
	@$(BIN)/debandit demo

test: .venv/tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 3 --dist worksteal -r s

# make fuzz FUZZ="--inputs 50000 --seed 7"; FUZZ=--help lists the options
fuzz: .venv/tested
	PYTHONPATH=tests $(BIN)/python -m fuzz.campaign $(FUZZ)

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

# one file for every system and every Python from 3.11 on, with markers where their versions differ; then run make test
lock: $(BIN)/uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras --no-annotate \
	  --custom-compile-command "make lock" --output-file tests/constraints.txt pyproject.toml

# What these libraries need themselves is new, and may warn of how the old ones call it. pyarrow before 25 crashes where
# the fuzzer writes Arrow files, before it spoils them.
oldest: $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-oldest
	$(BIN)/uv pip install --quiet --python .venv-oldest --resolution lowest-direct --editable '.[test]'
	.venv-oldest/bin/pytest -n 3 --dist worksteal -W default tests/unit --ignore tests/unit/test_fuzz.py

# strict, or packages that the advisory service does not answer for would pass
audit: .venv/tested $(BIN)/uv
	$(BIN)/python -m pip check
	$(BIN)/uv tool run pip-audit --strict --no-deps --disable-pip --requirement tests/constraints.txt

clean:
	rm -rf .venv .venv-oldest build

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "debandit needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up .venv, once ..."
	@$(PYTHON) -m venv .venv \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -qq python3-venv \
	  && $(PYTHON) -m venv .venv; }
	@touch $@

$(BIN)/uv: .venv/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@touch $@

# none for a Python that is newer than the locked versions, which may have no wheels for it
.venv/constraints.txt: .venv/python tests/constraints.txt
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info >= (3, 14))'; then cp tests/constraints.txt $@; \
	  else echo "The locked versions are for Python 3.11 to 3.13: installing the newest packages instead."; : >$@; fi

.venv/installed: .venv/constraints.txt pyproject.toml
	@$(INSTALL) --editable .
	@touch $@

.venv/sited: .venv/installed
	@$(INSTALL) --editable '.[docs]'
	@touch $@

.venv/tested: .venv/installed
	@$(INSTALL) --editable '.[test]'
	@$(HAS_POSTGRESQL) || { [ "$$(id -u)" = 0 ] && command -v apt-get && $(GET_POSTGRESQL); } >/dev/null 2>&1; \
	  $(HAS_POSTGRESQL) || echo "No PostgreSQL server here (apt-get install postgresql): its tests will be skipped."
	@$(HAS_CHROMIUM) || { [ "$$(id -u)" = 0 ] && command -v apt-get && $(GET_CHROMIUM); } >/dev/null 2>&1; \
	  $(HAS_CHROMIUM) || echo "No Chromium here (apt-get install chromium): the tests of pages will be skipped."
	@touch $@
