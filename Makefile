# Baohuang Arena: every command a person or CI needs. `make help` lists them.
#
#   verify-X says whether X is in order, fix-X puts it in order. Tests call the same verify-X targets, so a command
#   stands here once. Installed things are kept with a stamp file; a second run starts in seconds.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

# Debian packages that tests call: prometheus brings promtool, openssl looks at certificates and handshakes as a stranger,
# postgresql is started by the tests themselves in a folder of their own.
DEBIAN_TEST_PACKAGES := prometheus openssl iproute2 postgresql

# Workers of pytest. Tests of one file that start Ray share one of them.
JOBS ?= 2
# What make fuzz looks at, all of it if nothing is named, and for how long each.
TARGETS ?=
SECONDS ?= 60
# Options handed to pytest: make test ARGS='-k matrix -x'
ARGS ?=

SOURCES = bots_sdk services tests proto/generate.py $(if $(wildcard benchmarks/*.py),benchmarks)
VERIFY  := verify-ruff verify-format verify-types verify-imports verify-stubs verify-proto verify-protocol-compatible

say = @echo "==> $(1)"

.PHONY: help demo test verify fix stubs bench fuzz clean install debian $(VERIFY) fix-ruff fix-format fix-proto publish-protocol

help: ## This list
	@echo "Baohuang Arena. On a new machine: make demo, then make test."
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-26s %s\n", $$1, $$2}'

# ------------------------------------------------------------------------------------------------------- for everyone

demo: $(VENV)/.server ## Install the platform and play a small tournament
	$(call say,Starting the demo: baohuang demo)
	@$(BIN)/baohuang demo

# Hundreds of processes start, each of which would compile the same modules where a container forbids to keep them.
test: debian $(VENV)/.dev .venv-gen/requirements.sha256 ## Install what tests need and run everything (ARGS='-k x' for some)
	$(call say,Running the tests on $(JOBS) workers: linters and types are among them)
	@env --unset=PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

verify: $(VERIFY) ## Linters, formats, types, import layers, stubs and protocol, without the tests

fix: fix-ruff fix-format fix-proto ## Put formats and whatever the linter can mend in order

stubs: ## Generate proto/stubs from proto/baohuang
	@$(PYTHON) proto/generate.py

bench: $(VENV)/.dev ## Run every benchmark; each prints its baseline beside the figure
	@for name in engine match_service tournament; do echo "==> $$name"; $(BIN)/python -m "benchmarks.$$name"; done

fuzz: $(VENV)/.fuzz ## Look for inputs that a reader does not survive (TARGETS='specs records' SECONDS=600)
	@$(BIN)/python -m tests.fuzz.campaign --seconds $(SECONDS) $(TARGETS)

clean: ## Remove what was installed or cached here
	$(call say,Removing $(VENV) .venv-gen and the caches)
	@rm -rf $(VENV) .venv-gen .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .fuzz build dist
	@find bots_sdk services proto tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

install: $(VENV)/.dev ## Install the platform and the tools into .venv, and run nothing

# ------------------------------------------------------------------------------------------------- what gets installed

$(BIN)/python:
	$(call say,Making a virtual environment in $(VENV))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed: install it, or name one with make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
	  || { echo "Python's venv module is needed: apt-get install python3-venv"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.server: pyproject.toml | $(BIN)/python
	$(call say,Installing the platform into $(VENV): about half a minute)
	@$(PIP) install --editable '.[server]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(call say,Installing the platform and the test tools into $(VENV): about a minute)
	@$(PIP) install --editable '.[server,dev]'
	@touch $(VENV)/.server $@

$(VENV)/.fuzz: pyproject.toml $(VENV)/.dev
	$(call say,Installing atheris into $(VENV))
	@$(PIP) install --editable '.[fuzz]'
	@touch $@

.venv-gen/requirements.sha256: proto/requirements-gen.txt
	@$(PYTHON) proto/generate.py --install
	@touch $@

# policy-rc.d is Debian's own way to install a daemon without starting it.
debian:
	@command -v dpkg-query >/dev/null \
	  || { echo "==> No Debian here: tests expect the programs of these packages: $(DEBIAN_TEST_PACKAGES)"; exit 0; }; \
	missing=(); \
	for package in $(DEBIAN_TEST_PACKAGES); do \
	  [ "$$(dpkg-query -W -f='$${db:Status-Status}' $$package 2>/dev/null)" = installed ] || missing+=($$package); \
	done; \
	[ $${#missing[@]} -gt 0 ] || exit 0; \
	[ $$(id -u) = 0 ] || { echo "The tests need Debian packages; install them as root: apt-get install $${missing[*]}"; exit 1; }; \
	echo "==> Installing Debian packages, without starting their services: $${missing[*]}"; \
	policy=/usr/sbin/policy-rc.d; \
	[ -e $$policy ] || { trap "rm -f $$policy" EXIT; printf '#!/bin/sh\nexit 101\n' >$$policy; chmod +x $$policy; }; \
	apt-get -qq update; \
	DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends "$${missing[@]}" >/dev/null

# --------------------------------------------------------------------------------------------------------- verify, fix

verify-ruff: $(VENV)/.dev
	$(call say,ruff check)
	@$(BIN)/ruff check --quiet .

verify-format: $(VENV)/.dev
	$(call say,ruff format)
	@$(BIN)/ruff format --check .

verify-types: $(VENV)/.dev
	$(call say,mypy --strict)
	@$(BIN)/mypy $(SOURCES)

verify-imports: $(VENV)/.dev
	$(call say,lint-imports: the layers)
	@$(BIN)/lint-imports --no-logo

verify-stubs: ## Are the committed stubs what the .proto files give?
	$(call say,proto/stubs)
	@$(PYTHON) proto/generate.py --check

verify-proto: $(VENV)/.dev
	$(call say,buf lint and buf format)
	@cd proto && ../$(BIN)/buf lint && ../$(BIN)/buf format --diff --exit-code

verify-protocol-compatible: $(VENV)/.dev ## Does the protocol still read what bots of the last release send?
	$(call say,buf breaking against the published protocol)
	@if [ -e proto/published.json ]; then cd proto && ../$(BIN)/buf breaking --against published.json; \
	else echo "Nothing has been published yet (make publish-protocol does it)."; fi

publish-protocol: $(VENV)/.dev ## At a release: from now on the protocol must stay compatible with what it is today
	@cd proto && ../$(BIN)/buf build --exclude-source-info --output published.json
	$(call say,proto/published.json holds the protocol that later changes are compared with)

fix-ruff: $(VENV)/.dev
	$(call say,ruff check --fix)
	@$(BIN)/ruff check --quiet --fix .

fix-format: $(VENV)/.dev | fix-ruff
	$(call say,ruff format)
	@$(BIN)/ruff format .

fix-proto: $(VENV)/.dev
	$(call say,buf format --write)
	@cd proto && ../$(BIN)/buf format --write
