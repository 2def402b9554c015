# Everything a newcomer or CI runs. `make demo` and `make test` are all the set-up there is.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { command -v $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python -m
# Most tests wait for processes: three at a time keep two cores busy.
PYTEST := $(RUN) pytest -q -n 3 --dist worksteal
# a comma inside the argument of a call would end it
COMMA := ,
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-install chaos bench check lint types contracts texts docs clean services lock audit

help:
	@echo 'make demo       broker, hub and virtual tables on this machine (ARGS="--tables 8 --autoplay --speed 60")'
	@echo 'make test       all checks and the test suite, under 10 minutes'
	@echo 'make test-long  the marked long tests'
	@echo 'make chaos      12 tables while everything goes wrong ([SEED=n] [SECONDS=s]); then nothing may be lost'
	@echo 'make bench      the measured figures, on the screen and in build/bench.json'
	@echo 'make docs       generate the pictures and tables in docs/'
	@echo 'make lock       newest versions of everything into lock-*.txt, by which the installer installs'
	@echo 'make audit      look whether a flaw of any of them is known'

# pip's own words go to a file: its last ones mislead when there is no network.
define install
	@$(RUN) pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 -e '$(1)' >$(VENV)/install.log 2>&1 \
		|| { echo 'Installing failed: is there a network? What pip said stands in $(VENV)/install.log.' >&2; exit 1; }
endef

# Each stamp is made anew when what it was made from changes.
$(VENV)/.made:
	@if [ -z '$(PYTHON)' ]; then echo 'Python 3.11 or newer is needed: sudo apt install python3 python3-venv' >&2; exit 1; fi
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
		|| { echo 'python3-venv is needed: sudo apt install python3-venv' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) && touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml
	@echo 'Installing what the demo needs into $(VENV) (once) ...'
	$(call install,.[hub$(COMMA)device])
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	@echo 'Installing what the tests need into $(VENV) (once) ...'
	$(call install,.[hub$(COMMA)device$(COMMA)test])
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	@exec $(BIN)/timer-hub demo $(ARGS)

# mosquitto and Chromium, by apt where that may be.
services:
	@missing=''; \
	command -v mosquitto >/dev/null 2>&1 || [ -x /usr/sbin/mosquitto ] || missing="$$missing mosquitto"; \
	command -v chromium >/dev/null 2>&1 || missing="$$missing chromium"; \
	if [ -n "$$missing" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
			echo "Installing$$missing by apt ..."; \
			(apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing) >/dev/null \
				|| { echo "Installing$$missing failed; install it by hand" >&2; exit 1; }; \
		else echo "The tests need$$missing: sudo apt install$$missing" >&2; exit 1; fi; fi

lint: $(VENV)/.test
	@$(RUN) ruff check . && $(RUN) ruff format --check .

types: $(VENV)/.test
	@$(RUN) mypy

contracts: $(VENV)/.test
	@$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache

check: lint types contracts

test: services check
	@$(PYTEST) --cov --cov-report=term-missing:skip-covered $(ARGS)

# One at a time: these keep the whole machine busy by themselves.
test-long: services $(VENV)/.test
	@$(RUN) pytest -q -m long $(ARGS)

# Table and hub installed into Debian 12 and 13 and booted there; needs root, systemd-container and mmdebstrap.
test-install: $(VENV)/.test
	@$(RUN) pytest -q -m container $(ARGS)

chaos: services $(VENV)/.test
	@$(RUN) tests.chaos $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS)) $(ARGS)

bench: services $(VENV)/.test
	@$(RUN) tests.bench $(ARGS)

docs: services $(VENV)/.test
	@$(RUN) tests.docs

# The catalogues of words: extract, update, compile.
texts: $(VENV)/.test
	@mkdir -p build
	@$(BIN)/pybabel -q extract -F shared/locales/babel.cfg --no-location --no-wrap --sort-output -o build/messages.pot device hub shared
	@$(BIN)/pybabel -q update --no-fuzzy-matching --no-wrap --ignore-pot-creation-date -D messages -i build/messages.pot -d shared/locales
	@$(BIN)/pybabel -q compile -D messages -d shared/locales

# What the installer installs, with the hashes of all files of all machines. `make lock` alone takes newer versions.
MAINTAIN := build/maintain
$(MAINTAIN)/.made: Makefile
	@$(PYTHON) -m venv $(MAINTAIN) && $(MAINTAIN)/bin/pip install --quiet --disable-pip-version-check uv pip-audit && touch $@

LOCK := $(MAINTAIN)/bin/uv pip compile --quiet --universal --python-version 3.11 --upgrade --generate-hashes \
	--no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'
lock: $(MAINTAIN)/.made
	@$(LOCK) pyproject.toml --extra device -o lock-device.txt
	@$(LOCK) pyproject.toml --extra hub -o lock-hub.txt
	@echo 'lgpio>=0.2.2' | $(LOCK) - -o lock-lgpio.txt
	@printf '%s\n' 'hatchling>=1.25' setuptools | $(LOCK) - -c lock-device.txt -o lock-build.txt

# strict: what could not be looked up is not clean
audit: $(MAINTAIN)/.made
	@for file in lock-*.txt; do echo "$$file:" && $(MAINTAIN)/bin/pip-audit --strict --disable-pip --require-hashes -r $$file || exit 1; done

clean:
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
