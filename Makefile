# Two commands are enough: `make run` and `make test`. Each sets up all it needs.

PYTHON ?= python3
export PYTHON
PY := .venv/bin/python
# For checks that read the code and not the data: a database address that nobody answers, so that no server is started.
NO_DATABASE := DATABASE_URL=postgresql://nobody:nothing@127.0.0.1:1/nothing

.PHONY: help run test soak bench lint format lock sbom audit fresh clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## set up and run the product on this machine; PORT=, TAISAI_HOME=, DATABASE_URL=, BROKER_URL=, PLAY=no
	@scripts/setup run
	@exec $(PY) -m taisai_backoffice.run

test: ## set up and run every test on throwaway servers; ARGS="-k gate"
	@scripts/setup dev
	@scripts/chromium || true
	@$(PY) -m pytest -n auto --dist worksteal $(ARGS)

soak: ## long seeded runs of kills and fuzzing, resumable; RUNS=50
	@scripts/setup dev
	@$(PY) -m tests.soak $(ARGS)

bench: ## benchmarks: ratios measured side by side in one run
	@scripts/setup dev
	@$(PY) -m bench $(ARGS)

lint: ## ruff, mypy, imports one way, missing migrations
	@scripts/setup dev
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(NO_DATABASE) $(PY) -m mypy
	.venv/bin/lint-imports --no-cache
	$(NO_DATABASE) $(PY) -W ignore manage.py makemigrations --check --dry-run

format: ## let ruff put the code in order
	@scripts/setup dev
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

lock: ## write requirements*.txt from the pinned requirements*.in, with hashes; ARGS="--upgrade-package Django"
	@scripts/setup dev
	@scripts/lock $(ARGS)

sbom: ## write sbom.json: every package that runs the product (CycloneDX)
	@scripts/setup dev
	@.venv/bin/cyclonedx-py requirements requirements.txt --output-reproducible --of JSON -o sbom.json
	@echo "Written to sbom.json"

audit: ## known faults: packages (pip-audit), own code (bandit), settings of production (check --deploy)
	@scripts/setup dev
	@scripts/audit

fresh: ## prove run and test from a clean clone, as root and as an ordinary user
	@scripts/fresh

clean: ## remove the virtual environment and what tests and tools left; the data in var/ stays
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
