# The Endl back office. `make run` and `make test` set themselves up; nothing but a Python 3.12+ need be there.
.POSIX:
.DEFAULT_GOAL := help
PYTHON = .venv/bin/python
# More of pytest's options, as in: make test ARGS="-k deposits"
ARGS =

.PHONY: help setup run test browser faults faults-quick mutants races bench check

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

setup: ## .venv with everything that is locked, for development
	@.ci/bootstrap.sh dev

run: ## a practice office: emulator, worker, web server (PORT, EMULATOR_PORT, ENDL_BASE_URL)
	@.ci/bootstrap.sh run && exec $(PYTHON) -m backoffice.practice

test: ## all tests but the browser's (TEST_DATABASE_URL, TEST_BROKER_URL; ARGS goes to pytest)
	@.ci/bootstrap.sh dev && exec $(PYTHON) -m pytest -n 2 -m "not browser" $(ARGS)

browser: ## the journeys in headless Chromium, with screenshots under var/
	@.ci/bootstrap.sh dev && exec $(PYTHON) -m pytest -m browser $(ARGS)

faults: ## break everything on real processes, and let Endl's ledger judge (up to an hour; ARGS="--only storm")
	@.ci/bootstrap.sh dev && exec $(PYTHON) -m tests.faults $(ARGS)

faults-quick: ## a sample of that, in minutes
	@.ci/bootstrap.sh dev && exec $(PYTHON) -m tests.faults --quick $(ARGS)

mutants: ## plant faults in the code on purpose, one at a time, and see each of them caught
	@.ci/bootstrap.sh dev && exec $(PYTHON) -m tests.faults.mutants $(ARGS)

races: ## races about card details and approvals, a thousand rounds each (wants PostgreSQL in TEST_DATABASE_URL)
	@.ci/bootstrap.sh dev && RACE_ROUNDS=1000 $(PYTHON) -m pytest --timeout 3600 \
	  tests/cards/test_reveal_budgets.py tests/backoffice/approvals/test_many_races.py $(ARGS)

bench: ## how long things take, on this machine and database
	@.ci/bootstrap.sh dev && exec $(PYTHON) -m pytest tests/bench/[a-z]*.py -q -s --show-capture=no $(ARGS)

leaks: ## plant card numbers, use the office, look for them wherever it writes (ARGS=--self-test, --short)
	@.ci/bootstrap.sh dev && exec $(PYTHON) -m tests.leaks $(ARGS)

check: ## lint, types, directions, migrations, production settings, templates
	@.ci/bootstrap.sh dev && exec .ci/check
