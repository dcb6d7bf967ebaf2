# Thin: every target is one command of the virtual environment that set-up makes.
PYTHON ?= python3
BIN    := .venv/bin

.PHONY: run test mutate bench verilog synth lint format help
.DEFAULT_GOAL := help

run: .venv/run.stamp ## train a network whose tensors live in the simulated flash
	$(BIN)/flashtrain train

bench: .venv/run.stamp ## measure the RTL against its bounds; writes build/bench/results.json
	$(BIN)/flashtrain bench

verilog: .venv/run.stamp ## write lint-clean SystemVerilog with its manifest
	$(BIN)/flashtrain verilog --preset small

synth: .venv/synth.stamp ## area and clock of channel engines and the centre in an FPGA
	$(BIN)/flashtrain area controller

test: .venv/test.stamp ## lint, then all tests on every installed simulator
	$(BIN)/ruff check
	$(BIN)/pytest --numprocesses auto --dist worksteal

mutate: .venv/test.stamp ## plant every fault of tests/mutation in the RTL: the other tests must find each
	$(BIN)/pytest tests/mutation --long 1 --numprocesses auto --dist worksteal

lint: .venv/test.stamp ## ruff (rules and format) and pyright
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

format: .venv/test.stamp ## let ruff format the tree
	$(BIN)/ruff format

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Set-up: once, and again when pyproject.toml changes.
.venv/run.stamp: pyproject.toml sim/setup.sh
	sh sim/setup.sh run $(PYTHON)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/test.stamp: .venv/run.stamp
	sh sim/setup.sh test $(PYTHON)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,dev]'
	@touch $@

.venv/synth.stamp: .venv/run.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[synthesis]'
	@touch $@
