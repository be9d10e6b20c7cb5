# `make` prints this help. Each step of CI is a target; `make test` runs them all.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# The stages share two cores and their servers: one after the other, even under make -j.
.NOTPARALLEL:

# PostgreSQL versions to test the engine on: make engine PG_VERSIONS="14 18"
PG_VERSIONS ?= 14 15 16 17 18
# Arguments of `make up`: make up ARGS="--help"
ARGS ?=
# Benchmarks to run.
BENCH ?= send consume cycle latency held-xmin
# How many times as long as in the gate storms rage and walks go in `make nightly`.
LONGER ?= 2
# Of the suites of one PostgreSQL.
TIMEOUT ?= 15m

# Linters and the test runner have a module of their own, so that what they need is not what Weir needs.
TOOL := go tool -modfile=tools/go.mod
LINT := $(TOOL) golangci-lint
# Under `make test` (BRIEF) a run says how many tests it ran; tally tells what failed, and the logs have the rest.
ifdef BRIEF
TESTSUM_FORM := --format none --hide-summary skipped,failed,output
PYTEST_FORM := --tb no --disable-warnings
# The counts at the end, or what was said last when there are none.
NODE_FORM = | tee $(RESULTS)/sdk-typescript.txt | awk '/^ℹ tests / { on = 1 } on; \
	END { if (!on) system("tail -n 30 $(RESULTS)/sdk-typescript.txt") }'
else
TESTSUM_FORM := --format standard-quiet
endif
TESTSUM := $(TOOL) gotestsum $(TESTSUM_FORM)
# The linters have vetted what is tested.
GOTEST := -count=1 -vet=off

# The race detector needs a C compiler; without one the same tests run without it.
RACE := $(shell command -v "$$(go env CC)" >/dev/null 2>&1 && echo -race)

NEWEST = $(lastword $(PG_VERSIONS))
# What the pages say is tried on the newest version only.
UNIT_PACKAGES = $(shell go list ./cmd/... ./internal/... ./sql/... ./test/docs/... | grep -v /internal/tidy)
ENGINE_PACKAGES = $(shell go list ./internal/engine/... ./internal/migrate/... $(TEST_DIRS) | \
	grep -v -e /test/e2e -e /test/docs -e /test/pooler -e /test/around)
TEST_DIRS = $(patsubst %,./%/...,$(wildcard test))
RESULTS := build/tests
# Suites of behaviour, which also run behind PgBouncer and in an upgraded database.
BEHAVIOUR := admin claims concurrency get ordered rights rotation topics walk

# The oldest and the newest PostgreSQL run every suite. What finds rarely runs in a selection by SEED, and with WHOLE in
# full: each suite on one of the versions between, each suite of behaviour either behind PgBouncer or upgraded.
WHOLE ?=
SEED ?= $(shell date +%s)
SEED := $(SEED)
export SEED
# share WORDS,I,N is the I-th of N parts of the words, by SEED.
share = $(if $(WHOLE),$(1),$(shell printf '%s\n' $(1) | awk 'BEGIN { srand($(SEED)) } { print rand() "\t" $$0 }' | \
	LC_ALL=C sort | cut -f 2 | awk 'NR % $(3) == $(2) % $(3)'))

.PHONY: help
help: ## print this help
	@awk -F ':.*## |^##@ ' '/^##@ / { print "\n" $$2 } /^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))

##@ Use

.PHONY: up
up: build ## start PostgreSQL, install the engine and serve HTTP on 127.0.0.1:9347
	@exec build/weir up $(ARGS)

.PHONY: build
build: ## build the program as build/weir
	go build -trimpath -o build/weir ./cmd/weir

.PHONY: bench
bench: ## measure Weir on this machine: make bench BENCH="send cycle"
	@go build -o build/weir ./cmd/weir
	@for what in $(BENCH); do ./build/weir bench $$what; done

.PHONY: weir-bench
weir-bench: ## build the program that measures Weir beside others as build/weir-bench
	@cd bench && go build -o ../build/weir-bench .

# The systems that come near are repeated, then with calls of 1, 10 and 1,000; then every other workload once, which is
# also what `weir bench size` is fitted to; then the others, the slowest in few workloads. What the time does not
# suffice for is done when it is called again.
.PHONY: shootout
shootout: SHOOTOUT := build/weir-bench shootout --seconds 1
shootout: LEADERS := weir,weir-go,weir-http,pgmq,pgq,queen,river,graphile-worker,table
shootout: weir-bench ## measure Weir and others side by side in an hour, write bench/results; again: it goes on
	$(SHOOTOUT) --quick --repetitions 3 --budget 17m --systems $(LEADERS)
	$(SHOOTOUT) --repetitions 3 --budget 7m --systems $(LEADERS) \
		--workloads consume-1000,cycle-1000,cycle-10,send-1,consume-1
	$(SHOOTOUT) --repetitions 1 --budget 12m --systems weir,weir-go,pgmq,pgq,river,table
	$(SHOOTOUT) --quick --repetitions 1 --budget 5m --systems weir-python,weir-typescript,pgqueuer,pg-boss
	$(SHOOTOUT) --quick --repetitions 1 --budget 3m --systems awa,procrastinate,delayed-job \
		--workloads send-100,consume-100,cycle-100,cycle-1,jobs,latency-100
	$(MAKE) shootout-defaults
	-@cp bench/results/size.json internal/bench/size/model.json

.PHONY: shootout-defaults
shootout-defaults: SHOOTOUT := build/weir-bench shootout --seconds 1 --quick --repetitions 1 --setting default
shootout-defaults: weir-bench ## the main workloads, each system at its defaults, into the same report: 15 minutes
	$(SHOOTOUT) --budget 9m --workloads send-100,consume-100,cycle-100,cycle-1,latency-100
	$(SHOOTOUT) --budget 3m --workloads jobs

.PHONY: man
man: ## write the manual pages into build/man/man1
	go run ./internal/refgen -man build/man/man1

.PHONY: docs
docs: build/mkdocs/ready ## build the documentation as a site with search into build/site; a broken link fails
	@rm -rf build/pages && mkdir -p build/pages
	@git ls-files -z '*.md' '*.svg' | tar --null -T - -cf - | tar -C build/pages -xf -
	NO_MKDOCS_2_WARNING=1 build/mkdocs/bin/mkdocs build --strict --config-file docs/site/mkdocs.yml

# As the Python SDK's.
build/mkdocs/ready: docs/site/requirements.txt
	$(PYTHON) -m venv build/mkdocs
	$(call again,build/mkdocs/bin/pip install -q --disable-pip-version-check -r docs/site/requirements.txt)
	touch $@

.PHONY: dist
dist: ## build a release for Linux and macOS into build/dist: archives, wheels, npm and Debian packages
	deploy/dist.sh $(CURDIR)/build/dist

.PHONY: clean
clean: ## remove what building and testing left behind; never a data directory
	rm -rf build

##@ Change

.PHONY: generate
generate: ## rewrite the generated files
	go run ./internal/errgen
	go run ./internal/refgen

.PHONY: freeze
freeze: ## keep today's install script as that of the first release, which upgrades are tested from
	@mkdir -p test/upgrade/testdata
	go run ./cmd/weir install --print | gzip -9n >test/upgrade/testdata/0.3.0.sql.gz

.PHONY: fmt
fmt: ## format the Go files
	$(LINT) fmt

##@ Check

STAGES := check unit engine upgraded pooler around deploy e2e bench-check api-check sdk

.PHONY: test
test: fetched ## everything, as CI does: all stages run, and one that fails fails the whole
	@test/in-memory $(MAKE) --no-print-directory stages

.PHONY: stages
stages:
	@rm -rf $(RESULTS); mkdir -p $(RESULTS); failed=""; echo "SEED=$(SEED)"; \
	for stage in $(STAGES); do \
		echo "==> make $$stage"; began=$$SECONDS; \
		$(MAKE) --no-print-directory -s -k $$stage BRIEF=yes 2>&1 | tee $(RESULTS)/$$stage.log || \
			{ failed="$$failed $$stage"; go run ./internal/tally -stage $(RESULTS) $$stage; }; \
		echo "    $$((SECONDS - began)) s"; \
	done; \
	$(MAKE) --no-print-directory tally FAILED="$$failed" || failed="$$failed tally"; \
	if [ -n "$$failed" ]; then echo "FAILED:$$failed"; exit 1; fi; \
	echo "PASSED: $(STAGES)"

# again COMMAND runs what fetches from a registry, and runs it again when a download has failed.
again = { $(1); } || { sleep 5; $(1); } || { sleep 30; $(1); }

# The stages say what is missing when this cannot get it.
.PHONY: fetched
fetched: ## get the Go modules that the stages need
	-@$(call again,go list -modfile=tools/go.mod -deps tool >/dev/null)
	-@for dir in . bench sdk/go sdk/go/test sdk/go/weirotel deploy/test; do \
		( cd $$dir; $(call again,go list -deps -test ./... >/dev/null) ); done

.PHONY: check
check: fmt-check lint modules generated tidy ## format, lint, modules, generated files, house rules

.PHONY: fmt-check
fmt-check: ## fail when a Go file is not formatted
	$(LINT) fmt --diff

.PHONY: lint
lint: ## run the linters, among them govet with all that go vet looks at
	$(LINT) run ./...

.PHONY: modules
modules: ## fail when go.mod does not fit the code
	go mod tidy -diff

.PHONY: generated
generated: ## fail when a generated file is not what make generate writes
	go run ./internal/errgen -check
	go run ./internal/refgen -check

.PHONY: tidy
tidy: ## check the house rules
	$(call testsum,check-tidy,$(NEWEST)) ./internal/tidy

.PHONY: unit
unit: ## tests of the Go parts, with the race detector, on the newest PostgreSQL
	$(call testsum,unit,$(NEWEST)) $(RACE) -p 2 -timeout 10m $(UNIT_PACKAGES)

.PHONY: nightly
nightly: ## the gate whole, with nothing left to a selection, and with long storms and walks
	@WEIR_TEST_LONGER=$(LONGER) $(MAKE) --no-print-directory test WHOLE=yes TIMEOUT=3h

.PHONY: quick
quick: ## the engine's suites on the newest PostgreSQL, the slow tests shortened: confidence in a minute or two
	@test/in-memory $(MAKE) --no-print-directory -s shortened

.PHONY: shortened
shortened:
	$(call testsum,quick,$(NEWEST)) -short -timeout 10m $(ENGINE_PACKAGES)

.PHONY: engine
engine: ## tests of the engine on every supported PostgreSQL: PG_VERSIONS
	@$(MAKE) --no-print-directory -k $(PG_VERSIONS:%=engine-%)

.PHONY: $(PG_VERSIONS:%=engine-%)
$(PG_VERSIONS:%=engine-%): SUITES = \
	$(if $(filter $(@:engine-%=%),$(firstword $(PG_VERSIONS)) $(NEWEST)),$(ENGINE_PACKAGES),$(call \
	share,$(ENGINE_PACKAGES),$(@:engine-%=%),3))
$(PG_VERSIONS:%=engine-%): engine-%:
	@echo "--> PostgreSQL $*: $(notdir $(SUITES:/...=))"
	$(call testsum,engine-$*,$*) -p 3 -timeout $(TIMEOUT) $(SUITES)

.PHONY: upgraded
upgraded: SUITES = $(call share,$(BEHAVIOUR),1,2)
upgraded: ## the suites of behaviour in a database that the first release made, on the oldest PostgreSQL
	@echo "--> upgraded: $(SUITES)"
	export WEIR_TEST_UPGRADE_FROM=$(CURDIR)/test/upgrade/testdata/0.3.0.sql.gz; \
		$(call testsum,upgraded,$(firstword $(PG_VERSIONS))) -p 2 -timeout $(TIMEOUT) $(SUITES:%=./test/%/...)

.PHONY: pooler
pooler: SUITES = $(call share,$(BEHAVIOUR),2,2)
pooler: packages ## behind PgBouncer, on the newest PostgreSQL: what is about it, and the suites of behaviour
	$(call testsum,pooler,$(NEWEST)) -timeout 10m ./test/pooler/...
	@echo "--> behind PgBouncer: $(SUITES)"
	export WEIR_TEST_POOLER=1; $(call testsum,pooler-behaviour,$(NEWEST)) -p 2 -timeout $(TIMEOUT) $(SUITES:%=./test/%/...)

.PHONY: around
around: packages ## pg_upgrade, failover, pg_cron, PostgREST's way of calling
	$(call testsum,around,$(NEWEST)) -timeout 10m ./test/around/...

# What PyPI and Maven do not have comes from the distribution, and only when it is not there. Where this cannot be, the
# tests say so and fail.
.PHONY: packages
packages:
	-@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		! dpkg -s pgbouncer postgresql-15 postgresql-15-cron >/dev/null 2>&1; then \
		$(call apt,pgbouncer postgresql-15 postgresql-15-cron); \
	fi

# apt PACKAGES installs them, and shows what was said when that fails.
apt = mkdir -p build; { $(call again,apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1)); } \
	>build/apt.log 2>&1 || { tail -n 20 build/apt.log; false; }

.PHONY: deploy
deploy: promtool build docs build/installers/ready ## alerts, image, compose file, chart, unit, packages, site
	promtool check rules deploy/prometheus/rules.yaml
	promtool test rules deploy/prometheus/rules_test.yaml
	@mkdir -p $(RESULTS)
	@deploy/dist.sh $(CURDIR)/build/packages $$(go env GOOS)/$$(go env GOARCH) >/dev/null
	@cd deploy/test && go mod tidy -diff && go vet ./... && $(OWN_TOOL) golangci-lint fmt --diff && \
		WEIR=$(CURDIR)/build/weir DIST=$(CURDIR)/build/packages INSTALLERS=$(CURDIR)/build/installers/bin \
		SITE=$(CURDIR)/build/site PYTHON=$(PYTHON) $(OWN_TOOL) gotestsum $(TESTSUM_FORM) \
		--jsonfile $(CURDIR)/$(RESULTS)/deploy.json -- $(GOTEST) -timeout 10m ./...
	deploy/test/again.sh

# As the Python SDK's.
build/installers/ready: deploy/test/requirements.txt
	$(PYTHON) -m venv build/installers
	$(call again,build/installers/bin/pip install -q --disable-pip-version-check -r deploy/test/requirements.txt)
	touch $@

# As PgBouncer: promtool, systemd-analyze, and zip for the wheels.
.PHONY: promtool
promtool:
	-@if ! { command -v promtool && command -v systemd-analyze && command -v zip; } >/dev/null && [ "$$(id -u)" = 0 ] && \
		command -v apt-get >/dev/null; then \
		$(call apt,prometheus systemd zip); \
	fi

.PHONY: sdk
sdk: sdk-go sdk-python sdk-typescript ## the SDKs, each with its formatter, linters, tests and the conformance cases

# The tests have a module of their own: they need the engine and the server, which users of the SDK do not. What those
# two require may change at any time, hence -mod=mod.
SDK_GO := sdk/go sdk/go/weirotel sdk/go/test
OWN_TOOL := go tool -modfile=$(CURDIR)/tools/go.mod

.PHONY: sdk-go
sdk-go: ## the Go SDK: format, lint, modules, tests, over SQL and HTTP
	@cd sdk/go && go mod tidy -diff
	@cd sdk/go/weirotel && go mod tidy -diff
	@for dir in $(SDK_GO); do ( cd $$dir && export GOFLAGS=-mod=mod && \
		$(OWN_TOOL) golangci-lint fmt --diff && $(OWN_TOOL) golangci-lint run ./... ); done
	@mkdir -p $(RESULTS)
	@cd sdk/go/test && GOFLAGS=-mod=mod WEIR_TEST_PG=$(NEWEST) $(OWN_TOOL) gotestsum $(TESTSUM_FORM) \
		--jsonfile $(CURDIR)/$(RESULTS)/sdk-go.json -- $(GOTEST) $(RACE) -timeout 15m ./... github.com/weirmq/weir/sdk/go

.PHONY: e2e
e2e: chromium ## the page, in a real browser, on the newest PostgreSQL
	$(call testsum,e2e,$(NEWEST)) -timeout 25m ./test/e2e/...

.PHONY: bench-check
bench-check: chromium ## the module bench: format, lint, modules, tests, on the newest PostgreSQL
	@mkdir -p $(RESULTS)
	@cd bench && go mod tidy -diff && $(OWN_TOOL) golangci-lint fmt --diff && $(OWN_TOOL) golangci-lint run ./... && \
		WEIR_TEST_PG=$(NEWEST) $(OWN_TOOL) gotestsum $(TESTSUM_FORM) --jsonfile $(CURDIR)/$(RESULTS)/bench-check.json -- \
		$(GOTEST) $(RACE) -p 2 -timeout 20m ./...

# As PgBouncer.
.PHONY: chromium
chromium:
	-@if ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null && [ "$$(id -u)" = 0 ] && \
		command -v apt-get >/dev/null; then \
		$(call apt,chromium); \
	fi

# What the Python SDK is tested with comes from PyPI, in the versions that requirements.txt names.
PYTHON ?= python3
VENV := build/python

.PHONY: sdk-python
sdk-python: build packages $(VENV)/ready ## the Python SDK: format, lint, types, tests, over SQL and HTTP
	$(VENV)/bin/python sdk/python/unasync.py --check
	$(VENV)/bin/ruff format --check sdk/python
	$(VENV)/bin/ruff check sdk/python
	cd sdk/python && ../../$(VENV)/bin/mypy
	@mkdir -p $(RESULTS)
	cd sdk/python && WEIR_TEST_PG=$(NEWEST) WEIR=$(CURDIR)/build/weir ../conformance/with-weir ../../$(VENV)/bin/pytest \
		--junitxml $(CURDIR)/$(RESULTS)/sdk-python.xml $(PYTEST_FORM)

$(VENV)/ready: sdk/python/requirements.txt sdk/python/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(call again,$(VENV)/bin/pip install -q --disable-pip-version-check -r sdk/python/requirements.txt)
	$(VENV)/bin/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e sdk/python
	touch $@

# npm installs what the lockfile names, when that has changed.
NPM := npm --prefix sdk/typescript --no-audit --no-fund --loglevel=error

.PHONY: sdk-typescript
sdk-typescript: build packages sdk/typescript/node_modules/.package-lock.json ## the TypeScript SDK
	$(NPM) run -s lint
	$(NPM) run -s typecheck
	@mkdir -p $(RESULTS)
	WEIR_TEST_PG=$(NEWEST) WEIR=$(CURDIR)/build/weir \
		RESULTS=$(CURDIR)/$(RESULTS)/sdk-typescript.xml $(NPM) run -s test $(NODE_FORM)

sdk/typescript/node_modules/.package-lock.json: sdk/typescript/package-lock.json
	$(call again,$(NPM) ci --ignore-scripts)
	touch $@

# As the Python SDK's.
.PHONY: api-check
api-check: build build/schemathesis/ready ## check the HTTP API against its own description, with schemathesis
	test/api/check.sh

build/schemathesis/ready: test/api/requirements.txt
	$(PYTHON) -m venv build/schemathesis
	$(call again,build/schemathesis/bin/pip install -q --disable-pip-version-check -r test/api/requirements.txt)
	touch $@

# Stages that failed, for tally.
FAILED ?=

.PHONY: tally
tally: ## count what the stages ran, from the results they left, and tell what failed and why
	@$(TOOL) gotestsum --format none --hide-summary all \
		--raw-command -- cat $(sort $(wildcard $(RESULTS)/*.json)) || true
	@go run ./internal/tally $(RESULTS) $(FAILED)

# testsum NAME,VERSION runs `go test` on that PostgreSQL with the arguments that follow and keeps the results for tally.
testsum = mkdir -p $(RESULTS) && WEIR_TEST_PG=$(2) $(TESTSUM) --jsonfile $(RESULTS)/$(1).json -- $(GOTEST)
