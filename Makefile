# Everything a person or CI does here. GNU make 3.81 (macOS) and later. `make` alone lists the targets.
#
# .venv is made once; two stamps in it say what was installed: .run (what Relaybook needs) and .dev (tests, too).

PYTHON ?= python3
UPSTREAM ?=
ARGS ?=

BIN := .venv/bin
# Three workers for two cores, because most tests wait for a process or a timer half of their time. One worker runs the
# browser tests, one the crash tests; all others run file by file (tests/support/scheduling.py).
PYTEST := $(BIN)/pytest -n 3
PIP := $(BIN)/python -m pip --disable-pip-version-check
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
COMPOSE := $(if $(shell command -v docker-compose),docker-compose,docker compose)
KUSTOMIZE := $(if $(shell command -v kustomize),kustomize build,kubectl kustomize)
TOOLS := jq strace chromium-headless-shell
export PIP_ROOT_USER_ACTION := ignore

# The page: what is built stands for the build. Its Node is in requirements/run.txt, so installing comes before it.
PAGE := src/relaybook/page/static/index.html
PAGE_SOURCES := $(shell find dashboard -name node_modules -prune -o -type f ! -name '*.test.ts*' -print)
NPM := $(BIN)/python hatch_build.py
# The official Node SDKs, which tests compare our streams and errors with.
NODE_SDK := tests/conformance/node/node_modules/.package-lock.json
# What a target needs is made in the order it is named in.
.NOTPARALLEL:

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: .venv/.run $(PAGE) ## Run with a simulated upstream, without API key and network; keeps running
	@$(BIN)/relaybook demo $(ARGS)

.PHONY: run
run: .venv/.run $(PAGE) ## Forward to real upstreams: make run UPSTREAM=https://api.openai.com/v1 ROUTES=anthropic,gemini
	@$(BIN)/relaybook serve $(if $(UPSTREAM),--upstream '$(UPSTREAM)') $(if $(ROUTES),--routes '$(ROUTES)') $(ARGS)

.PHONY: test
# With STORE=clickhouse, only the tests that need ClickHouse. With STORE=clickhouse://user@host:port/name, these tests on
# a server that somebody else runs.
ifeq ($(STORE),clickhouse)
test: tools .venv/.clickhouse $(PAGE)
	@$(PYTEST) -m clickhouse --durations=10 --durations-min=1 $(ARGS)
else ifdef STORE
test: .venv/.dev $(PAGE)
	@TEST_STORE='$(STORE)' $(BIN)/pytest -p no:xdist -rs -m clickhouse $(ARGS)
else
test: tools static page page-check $(NODE_SDK) ## Run everything except the tests that need ClickHouse (9 to 12 minutes)
	@TEST_STORE=sqlite $(PYTEST) --durations=10 --durations-min=1 $(ARGS)
endif

$(NODE_SDK): tests/conformance/node/package-lock.json | .venv/.dev
	@$(BIN)/python -c 'from tests.conformance.node.node_sdk import install; install()'

.PHONY: check
check: static page-check ## Format, lint, types, import contracts, unit tests, a little fuzzing (a minute)
	@$(PYTEST) tests/unit tests/golden tests/architecture tests/fuzz $(ARGS)

.PHONY: static
static: .venv/.dev
	@$(BIN)/ruff format --check --quiet . || { echo 'Not formatted: make format'; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/mypy --python-version 3.14  # type stubs can differ between versions, and a compiled wheel is type-checked

.PHONY: format
format: .venv/.dev ## Format the code, and repair what the linter can repair
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .
	@$(NPM) run format

.PHONY: page
page: .venv/.run $(PAGE) ## Build the page if a source of it is newer

.PHONY: page-check
page-check: .venv/.run ## Only the page: format, lint, types, unit tests
	@$(NPM) run check

.PHONY: crash
crash: tools .venv/.dev ## The long form of the crash tests: 1,000 kills, every system call (hours)
	@LONG_TESTS=1 $(BIN)/pytest tests/crash tests/network $(ARGS)

.PHONY: fuzz
fuzz: .venv/.dev ## Fuzz parsers, relay and API for an hour: make fuzz SECONDS=600 for ten minutes
	@FUZZ_SECONDS=$(or $(SECONDS),3600) $(BIN)/pytest tests/fuzz $(ARGS)

.PHONY: long
long: tools page $(NODE_SDK) ## The long form of all other tests: 5,000 generated exchanges, new random examples, 10 GiB, 100 reloads (hours)
	@LONG_TESTS=1 $(PYTEST) tests/integration tests/conformance tests/e2e tests/golden tests/unit $(ARGS)

.PHONY: soak
soak: .venv/.dev ## Send mixed traffic for half an hour, and watch the memory: make soak ARGS='--minutes 5'
	@$(BIN)/python -m benchmarks.soak $(ARGS)

.PHONY: clients
clients: .venv/.dev ## Run Claude Code, Codex and other client programs through a relay: make clients ARGS='codex llm'
	@$(BIN)/python -m tests.clients $(ARGS)

.PHONY: bench
bench: .venv/.dev ## Compare with nginx and other proxies; results go to benchmarks/latest. ARGS=part names other parts
	@$(BIN)/python -m benchmarks $(or $(ARGS),comparison recorder latency memory)

.PHONY: docs
docs: .venv/.dev ## Generate these files again: settings, clients, API, malformed requests, the page's types, parts of deploy/
	@$(BIN)/python -m tests.support.settings_page
	@$(BIN)/python -m tests.support.api_page
	@$(BIN)/python -m tests.support.types_page
	@$(BIN)/python -m tests.support.vocabulary_page
	@$(BIN)/python -m tests.support.clients_page
	@$(BIN)/python -m tests.support.prometheus_rule
	@$(BIN)/python -m tests.support.grafana_dashboard
	@$(BIN)/python -m tests.integration.test_bad_input

.PHONY: lock
lock: ## Lock requirements/*.txt to pyproject.toml (needs uv); ARGS=--upgrade takes new versions
	@$(LOCK) $(ARGS) pyproject.toml --extra demo --extra parquet --group dev --output-file requirements/dev.txt
	@$(LOCK) pyproject.toml --extra demo --group build --constraints requirements/dev.txt --output-file requirements/run.txt
	@$(LOCK) pyproject.toml --extra clickhouse --constraints requirements/dev.txt --constraints requirements/clickhouse.txt --output-file requirements/image.txt
	@$(LOCK) --group compile --constraints requirements/dev.txt --output-file requirements/compile.txt
	@$(LOCK) $(ARGS) --group bootstrap --output-file requirements/bootstrap.txt
	@$(LOCK) $(ARGS) --group release --constraints requirements/dev.txt --output-file requirements/release.txt
	@$(LOCK) $(ARGS) --group docs --constraints requirements/dev.txt --output-file requirements/docs.txt
	@$(LOCK) $(ARGS) --group deploy --constraints requirements/dev.txt --output-file requirements/deploy.txt
	@$(LOCK) $(ARGS) --group clickhouse --constraints requirements/dev.txt --output-file requirements/clickhouse.txt

.PHONY: clickhouse
clickhouse: .venv/.clickhouse ## Install the engine of ClickHouse (900 MB), for make test STORE=clickhouse

.PHONY: compiled
compiled: .venv/.dev $(PAGE) ## Build a wheel in dist/ whose request path is compiled and takes a quarter less CPU (needs a C compiler)
	@RELAYBOOK_COMPILE=1 $(BIN)/python -m hatchling build -t wheel

# Git's date of the commit makes two builds equal, byte by byte.
.PHONY: dist
dist: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
dist: .venv/.release $(PAGE) ## Build sdist and plain wheel twice in dist/plain, compare and check them
	@rm -rf dist/plain build/again
	@$(BIN)/python -m build --no-isolation --outdir dist/plain > /dev/null
	@$(BIN)/python -m build --no-isolation --outdir build/again > /dev/null
	@diff --recursive dist/plain build/again
	@$(BIN)/twine check --strict dist/plain/*
	@$(BIN)/check-wheel-contents dist/plain/*.whl

.PHONY: site
site: .venv/.docs ## Build the documentation as a site in build/site; fails if a link is broken
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --config-file docs-site/mkdocs.yml

.PHONY: deploy-check
deploy-check: .venv/.deploy ## Check deploy/ (Debian packages systemd, prometheus, docker-compose; kustomize or kubectl)
	@mkdir -p build/deploy
	@sed 's|/opt/relaybook/bin/relaybook|/bin/true|' deploy/systemd/relaybook.service > build/deploy/relaybook.service
	systemd-analyze verify build/deploy/relaybook.service
	systemd-analyze security --offline=true --threshold=20 --no-pager build/deploy/relaybook.service > build/deploy/security.txt
	@tail -n 1 build/deploy/security.txt
	promtool check rules deploy/prometheus/rules.yaml
	promtool test rules deploy/prometheus/rules_test.yaml
	$(BIN)/python -m tests.deploy.grafana_rules > build/deploy/grafana.yaml
	promtool check rules build/deploy/grafana.yaml
	cd deploy/compose && promtool check config --syntax-only prometheus.yaml
	RELAYBOOK_DASHBOARD_TOKEN=x $(COMPOSE) --file deploy/compose/compose.yaml --profile observability config --quiet
	$(KUSTOMIZE) deploy/kubernetes/base > build/deploy/base.yaml
	$(KUSTOMIZE) deploy/kubernetes/monitoring > build/deploy/monitoring.yaml
	$(KUSTOMIZE) deploy/kubernetes/clickhouse > build/deploy/clickhouse.yaml
	$(BIN)/python -m tests.deploy.check_kubernetes $(addprefix build/deploy/,base.yaml monitoring.yaml clickhouse.yaml)

.PHONY: clean
clean: ## Remove .venv, the built page and caches; never data
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	rm -rf dashboard/node_modules $(dir $(PAGE))

# What tests need beyond Python. By itself only where it can harm nobody: as root on a Debian, as in a container or CI.
.PHONY: tools
tools:
	@missing=; for tool in $(TOOLS); do command -v $$tool > /dev/null || missing=yes; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && [ -f /etc/debian_version ] && command -v apt-get > /dev/null; then \
	  $(MAKE) --no-print-directory system-deps || echo 'Not installed; the tests that need them are left out.'; \
	fi

.PHONY: system-deps
system-deps: ## Install what tests need beyond Python (Debian, as root)
	@command -v apt-get > /dev/null || { echo 'No apt-get here. Install by hand: $(TOOLS)'; exit 1; }
	@[ "$$(id -u)" = 0 ] || { echo 'Only root can install packages: sudo make system-deps'; exit 1; }
	apt-get update -qq
	failed=; for tool in $(TOOLS); do \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$tool || failed=yes; \
	done; [ -z "$$failed" ]

.PHONY: venv
venv: .venv/.dev $(PAGE) ## Make .venv with everything for development

.venv/.run: .venv/.made requirements/run.txt pyproject.toml
	@echo 'Installing into .venv, locked and hash-checked'
	@$(PIP) install --quiet --require-hashes -r requirements/run.txt
	@[ -f $(PAGE) ] || { echo 'Building the page'; $(NPM); }
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: .venv/.run requirements/dev.txt
	@$(PIP) install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

# What only one target needs: .venv/.deploy, .release, .docs, .clickhouse.
.venv/.%: requirements/%.txt .venv/.dev
	@$(PIP) install --quiet --require-hashes -r $<
	@touch $@

$(PAGE): $(PAGE_SOURCES)
	@echo 'Building the page'
	@$(NPM)

# A .venv that works is kept. One half made (no ensurepip) is thrown away and made by virtualenv instead.
.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || \
	  { echo 'Relaybook needs Python 3.11 to 3.14; name one: make PYTHON=/path/to/python3.12 ...'; exit 1; }
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || { \
	  rm -rf .venv; \
	  { $(PYTHON) -m venv .venv > /dev/null 2>&1 && $(BIN)/python -m pip --version > /dev/null 2>&1; } || \
	  $(MAKE) --no-print-directory virtualenv; }
	@touch $@

.PHONY: virtualenv
virtualenv:
	@echo 'This Python has no venv; taking virtualenv'
	@rm -rf .venv
	@$(PYTHON) -m pip --disable-pip-version-check install --quiet --require-hashes \
	  --target .venv/.virtualenv -r requirements/bootstrap.txt
	@PYTHONPATH=.venv/.virtualenv $(PYTHON) -m virtualenv --quiet --no-download .venv
	@rm -rf .venv/.virtualenv
