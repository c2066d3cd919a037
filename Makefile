# archfit: everything a developer or CI runs. `make help` lists the targets.
#
#   .venv/.run          follows pyproject.toml and locks/run.lock: .venv with archfit and what it runs with
#   .venv/.ready        follows locks/dev.lock, too: the same with the locked tools
#   .tools/lowest/      the wheel with the lowest versions that pyproject.toml admits, on the lowest Python, and the tests' tools
#   .tools/clean/       the same without the tests' tools
#   .tools/wheel/       the wheel with the locked versions and the tests' tools, on the newest Python here
#   .tools/docs/        MkDocs with locks/docs.lock, and the scripts of scripts/site/package.json
#   .tools/             programs that the tests run (helm, kustomize, registries), fetched by tests/support/install_tools.py

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all lowest wheel-test smoke lint format audit bench bundle plugin release-check docs pages lock clean

# The first Python that is new enough; a version manager's `python3` may be on PATH and yet not run.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do \
	$$python -c 'import sys; sys.exit(not sys.version_info >= (3, 11))' 2>/dev/null && echo $$python && break; done)
RUN := .venv/bin/python
# The lowest Python of this machine that pyproject.toml admits, to the patch release: 3.11.2 of Debian 12 lacks what 3.11.4 has.
LOWEST ?= $(shell for python in /usr/bin/python3 python3 python3.11 python3.12 python3.13 python3.14 $(HOME)/.pyenv/versions/3.1?.*/bin/python3; do \
	$$python -c 'import sys; sys.version_info >= (3, 11) and print(sys.version.split()[0], sys.argv[1])' $$python 2>/dev/null; done | sort -Vs | head -1 | cut -d' ' -f2)
# The newest Python of this machine that is newer than that; empty where there is none.
NEWEST ?= $(shell for minor in 14 13 12; do for python in python3.$$minor $(HOME)/.pyenv/versions/3.$$minor.*/bin/python3; do \
	$$python -c '' 2>/dev/null && echo $$python && break 2; done; done)
PIP := $(RUN) -m pip --quiet --disable-pip-version-check
ARGS ?=
DIST ?= dist
# Helm 4: the one that the tests use, else the one on PATH.
HELM4 ?= $(shell test -x .tools/bin/helm4 && echo .tools/bin/helm4 || echo helm)
# The order of a set is a draw, too. What must not depend on it is tested with several seeds.
test test-all lowest wheel-test: export PYTHONHASHSEED = 0
# The markers are explained in tests/conftest.py.
WORKERS := -n auto --maxprocesses 8
FAST := -m "not real and not load" --ignore=tests/real $(WORKERS) --dist worksteal

LOWEST_SUITES := tests/lookup tests/registry tests/cli tests/rewrite tests/check tests/explain tests/lock tests/inspect tests/patch tests/doctor tests/real/redis tests/real/registries
LOCKS := locks/dev.lock locks/build.lock locks/run.lock locks/lowest.lock locks/docs.lock locks/bundle.lock

# $(call venv,PYTHON): python3-venv, which Debian packs apart, where the Python lacks it.
define venv
	@$(1) -c 'import sys; v = sys.version.split()[0]; sys.exit(sys.version_info < (3, 11) and f"PYTHON=$(1) is {v}; archfit needs 3.11 or later")'
	@$(1) -c 'import ensurepip, venv' 2>/dev/null || \
	  { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	    { echo "$(1) has no module venv, so this installs it: apt-get install python3-venv"; \
	      apt-get install -y -q python3-venv || { apt-get update -q && apt-get install -y -q python3-venv; }; }; } || \
	  { echo "sudo apt-get install python3-venv"; exit 1; }
endef

# $(call wheel,FOLDER,LOCK..,PYTHON): a new environment below .tools with what the locks name, the last one winning, and the wheel.
define wheel
	$(call venv,$(3))
	@rm -rf .tools/$(1) .tools/built && $(RUN) -m hatchling build -t wheel -d .tools/built >/dev/null && $(3) -m venv .tools/$(1)
	@for lock in $(2); do .tools/$(1)/bin/pip install -q --disable-pip-version-check --require-hashes --no-deps -r $$lock || exit 1; done
	@.tools/$(1)/bin/pip install -q --disable-pip-version-check --no-deps --no-index .tools/built/*.whl
	@.tools/$(1)/bin/pip check
endef

# $(call tests,PYTHON,PATHS): all tests beside each other, then alone what bounds time and memory. pytest's 5: no such test.
define tests
	@$(1) -m pytest -m "not load" $(WORKERS) --dist loadfile --no-loadscope-reorder $(2) $(ARGS) || test $$? = 5 || failed=1; \
	  $(1) -m pytest -m load $(2) $(ARGS) || test $$? = 5 || failed=1; test -z "$$failed"
endef

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 15

demo: .venv/.run ## Run archfit on real manifests and show what it changes (no network once set up)
	@$(RUN) fixtures/demo/demo.py

test: .venv/.ready ## Test in less than five minutes what needs Python alone, and what programs are here already (ARGS=pytest options)
	@$(RUN) -m pytest --quick $(WORKERS) --dist worksteal $(ARGS)

test-all: .venv/.ready ## Run every test; fetches and builds other people's programs first, and says why one cannot be had
	@echo "make test-all: 20 minutes or so on two processors, and as many for the programs (helm, kubectl, registries): once, into .tools"
	@$(RUN) tests/support/install_tools.py
	$(call tests,$(RUN))

.PHONY: lowest-python
lowest-python:
	@echo "$(LOWEST)"

lowest: .venv/.ready ## Test cache, registry and commands from the wheel with the lowest versions that pyproject.toml admits
	@$(RUN) tests/support/install_tools.py redis-server docker-registry registry
	$(call wheel,lowest,locks/dev.lock locks/lowest.lock,$(LOWEST))
	$(call tests,.tools/lowest/bin/python,$(LOWEST_SUITES))

wheel-test: .venv/.ready ## Build wheel and source archive, and run the fast tests on the wheel with the newest Python here
	@rm -rf .tools/dist && $(RUN) -m hatchling build -t sdist -d .tools/dist >/dev/null && tar -xzf .tools/dist/*.tar.gz -C .tools/dist
	@for path in transformer/archfit/py.typed tests/conftest.py tests/support/machine.py fixtures/registry.py fixtures/charts; do \
	  test -e .tools/dist/archfit-*/$$path || { echo "the source archive lacks $$path"; exit 1; }; done
	@test -n "$(NEWEST)" || echo "wheel-test: no Python newer than $(LOWEST) is here"
	$(call wheel,wheel,locks/dev.lock,$(or $(NEWEST),$(LOWEST)))
	@.tools/wheel/bin/python -m pytest $(FAST) $(ARGS)

smoke: .venv/.ready ## Start every command from the wheel, installed alone with its dependencies
	$(call wheel,clean,locks/lowest.lock,$(LOWEST))
	@.tools/clean/bin/python -I tests/support/smoke.py

pages: .venv/.ready ## Renew what is made from the code: parts of docs/, the schema of the chart's values
	@$(RUN) scripts/pages.py

lint: .venv/.ready ## Check style, types and the direction of imports
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	.venv/bin/lint-imports
	$(RUN) scripts/names.py

audit: ## Ask PyPI whether a locked package has a known vulnerability (needs the network)
	@test -x .tools/audit/bin/pip-audit || { $(PYTHON) -m venv .tools/audit && .tools/audit/bin/pip install -q pip-audit==2.10.1; }
	@for lock in $(LOCKS); do echo "$$lock"; \
	  .tools/audit/bin/pip-audit --strict --progress-spinner off --require-hashes --disable-pip -r $$lock || failed=1; done; test -z "$$failed"

format: .venv/.ready ## Rewrite the sources in the project's style
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

bench: .venv/.ready ## Measure speed and memory beside kustomize, yq and helm
	@$(RUN) tests/support/install_tools.py kustomize yq helm3 helm4 uv crane regctl
	@$(RUN) benchmarks $(ARGS); ended=$$?; $(RUN) scripts/pages.py && exit $$ended

bundle: .venv/.run ## Build dist/archfit, which runs without Python (DIST=another folder)
	@$(PIP) install --require-hashes --no-deps --upgrade --target .tools/pyinstaller -r locks/bundle.lock
	@PYTHONPATH=.tools/pyinstaller PYTHONDONTWRITEBYTECODE=1 $(RUN) -m PyInstaller --noconfirm --log-level WARN \
	  --distpath $(DIST) --workpath .tools/bundle argocd-plugin/bundle/archfit.spec

plugin: .venv/.ready ## Package and sign Helm 4's plugin into dist/ (KEYRING=FILE KEY=NAME; THROW_AWAY=1 makes a key for this run)
	@$(RUN) scripts/plugin_archive.py --helm $(HELM4) --into $(DIST) $(if $(THROW_AWAY),--throw-away-key) --keyring "$(KEYRING)" \
	  --key "$(KEY)" --passphrase-file "$(PASSPHRASE_FILE)"

release-check: .venv/.ready ## Build and verify everything that a release publishes, into dist/ (TAG=v0.1.0 for a release)
	@$(RUN) tests/support/install_tools.py twine cyclonedx-py krew helm4
	@$(RUN) scripts/release --dist $(DIST) $(if $(TAG),--tag $(TAG)) $(ARGS)

docs: .venv/.ready ## Build the pages of docs/ as a site below site/; a dead link is an error (ARGS=mkdocs options)
	@$(RUN) tests/support/install_tools.py mkdocs
	@NO_MKDOCS_2_WARNING=1 .tools/docs/bin/python -m mkdocs build --strict --config-file scripts/site/mkdocs.yml $(ARGS)
	@echo "open site/index.html"

lock: pyproject.toml ## Write the lock files in locks/ anew from pyproject.toml (needs uv)
	{ echo '# The development environment with hashes; `make lock` writes it.'; \
	  printf 'hatchling\neditables\n' | uv pip compile pyproject.toml - --group dev --all-extras --universal --python-version 3.11 \
	  --upgrade --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet; } > locks/dev.lock
	{ echo '# What builds the wheel, with hashes; `make lock` writes it.'; \
	  printf 'hatchling\neditables\n' | uv pip compile - --universal --python-version 3.11 --constraint locks/dev.lock \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet; } > locks/build.lock
	{ echo '# What archfit runs with, extras included, with hashes; `make lock` writes it.'; \
	  uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet; } > locks/run.lock
	{ echo '# The lowest versions that pyproject.toml admits, with hashes; `make lock` writes it.'; \
	  uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --resolution lowest-direct \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet; } > locks/lowest.lock
	{ echo '# What `make docs` builds the site with, with hashes; `make lock` writes it.'; \
	  uv pip compile --group docs --universal --python-version 3.11 \
	  --upgrade --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet; } > locks/docs.lock
	$(RUN) scripts/release/package_sources.py > locks/sources.lock

clean: ## Remove what `make` made
	rm -rf .venv .tools site .mypy_cache .pytest_cache .ruff_cache .hypothesis .fuzz .campaign .import_linter_cache

.venv/.run: pyproject.toml locks/run.lock locks/build.lock
	@test -n "$(PYTHON)" || { echo "archfit needs Python 3.11 or later on PATH, or make PYTHON=/path/to/python3"; exit 1; }
	$(call venv,$(PYTHON))
	@echo "setting up .venv with $$($(PYTHON) --version)"
	@test -x .venv/bin/pip || $(PYTHON) -m venv .venv
	@$(PIP) install --no-compile --require-hashes --no-deps -r locks/run.lock -r locks/build.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/.ready: .venv/.run locks/dev.lock
	@echo "adding what tests, lints and types archfit"
	@$(PIP) install --no-compile --require-hashes --no-deps -r locks/dev.lock
	@touch $@
