# Thin: every target is one command of the virtual environment that set-up makes.
PYTHON ?= python3
BIN    := .venv/bin

.PHONY: run test versions mutate bench linux linux-pcie verilog synth board docs lint format help
.DEFAULT_GOAL := help

run: .venv/run.stamp ## train a network whose tensors live in the simulated flash
	$(BIN)/flashtrain train

bench: .venv/run.stamp ## measure the RTL against its bounds; QUICK=1: on small, in a few minutes
	$(BIN)/flashtrain bench $(if $(QUICK),--quick)

linux: .venv/run.stamp ## boot Debian's Linux in QEMU: it drives the RTL over NVMe/TCP
	$(BIN)/python -m flashtrain.linux.run

linux-pcie: .venv/run.stamp ## the same as a drive on the PCI bus of QEMU, with Linux's own NVMe driver
	$(BIN)/python -m flashtrain.linux.pcie

verilog: .venv/run.stamp ## write SystemVerilog, a simulation, file lists and constraints
	$(BIN)/flashtrain verilog --preset small

synth: .venv/synth.stamp ## area, clock and depth of controllers and channel engines in an FPGA
	$(BIN)/flashtrain area controller

board: .venv/synth.stamp ## the bitstream of a ULX3S with a NAND chip: placed, routed, packed; fails above its clock
	$(BIN)/python -m flashtrain.sim.board.bitstream build/board

# A test run starts some thousand Pythons. Where bytecode is not to be written, each compiles its modules anew.
test: export PYTHONDONTWRITEBYTECODE =
test: .venv/test.stamp ## lint, then all tests on every installed simulator
	$(BIN)/ruff check
	$(BIN)/pytest --numprocesses auto --dist worksteal

versions: .venv/run.stamp ## once per release: tests with the newest and the oldest dependencies
	$(BIN)/python tests/versions.py

mutate: .venv/test.stamp ## plant every fault of tests/mutation in the RTL: the other tests must find each
	$(BIN)/pytest tests/mutation --long 1 --numprocesses auto --dist worksteal

docs: .venv/docs.stamp ## build the site from docs/ into build/docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -d build/doctrees docs build/docs

lint: .venv/test.stamp ## ruff (rules and format) and pyright
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

format: .venv/test.stamp ## let ruff format the tree
	$(BIN)/ruff format

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Set-up: once, and again when pyproject.toml changes.
.venv/run.stamp: pyproject.toml sim/setup.sh
	sh sim/setup.sh run $(PYTHON)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# The first import compiles a module. pip would compile all, of which most are never imported.
.venv/test.stamp: .venv/run.stamp
	sh sim/setup.sh test $(PYTHON)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --editable '.[test,dev]'
	@touch $@

.venv/docs.stamp: .venv/run.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

.venv/synth.stamp: .venv/run.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[synthesis]'
	@touch $@
