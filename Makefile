# publish-metadata: `make demo` runs the main job, `make test` passes what a change must.
# Needed: Go, make and git. All else is built from Go modules into .cache/.

SHELL := /bin/sh
GO ?= go
CACHE := .cache
BIN := bin/publish-metadata
LINT := $(CACHE)/golangci-lint
GORELEASER := $(CACHE)/goreleaser
# Where the coverage of the core is measured.
CORE := ./step/... ./schema/... ./internal/decode/... ./internal/document/... ./internal/resolve/... ./internal/shape/... ./internal/check/... ./internal/publish/... ./internal/value/...
COMMA := ,
EMPTY :=
SPACE := $(EMPTY) $(EMPTY)
# The least coverage of the core, in per cent.
COVERAGE := 85
FUZZTIME ?= 30s

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 18

.PHONY: build
build: ## Build bin/publish-metadata
	$(GO) build -trimpath -o $(BIN) ./cmd/publish-metadata

.PHONY: demo
demo: build ## Publish to a Stage file, as examples/local shows, without a cluster
	@PATH="$(CURDIR)/bin:$$PATH" sh examples/local/demo.sh

.PHONY: test
test: test-unit test-integration ## Run everything that a change must pass, on a real API server too

.PHONY: test-unit
test-unit: ## Run the tests that need no API server, with the coverage of the core
	$(GO) vet ./...
	@mkdir -p $(CACHE)
	$(GO) test -coverprofile=$(CACHE)/coverage.out -coverpkg=$(subst $(SPACE),$(COMMA),$(CORE)) ./...
	@$(GO) tool cover -func=$(CACHE)/coverage.out | awk '/^total:/ { sub("%", "", $$3); \
		printf "coverage of step, schema and the stages: %s%% (at least $(COVERAGE)%%)\n", $$3; exit ($$3 < $(COVERAGE)) }'

.PHONY: test-integration
test-integration: controlplane ## Run the tests on a real API server
	$(GO) vet -tags integration ./...
	$(GO) test -p 1 -tags integration $$(git grep -l "^//go:build integration" -- "*_test.go" | xargs -n1 dirname | sort -u | sed "s,^,./,")

.PHONY: race
race: ## Run the unit tests with the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race ./...

.PHONY: controlplane
controlplane: ## Build etcd and kube-apiserver for the tests (minutes, once)
	@sh tools/controlplane/build.sh

.PHONY: lint
lint: $(LINT) ## Run the linters
	$(LINT) run --build-tags integration ./...
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }

$(LINT): tools/lint/go.mod
	@echo "building golangci-lint (a minute or two, once)"
	@mkdir -p $(CACHE)
	cd tools/lint && $(GO) build -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: release-check
release-check: $(GORELEASER) ## Check what makes a release
	$(GORELEASER) check

$(GORELEASER): tools/goreleaser/go.mod
	@echo "building goreleaser (two minutes or more, once)"
	@mkdir -p $(CACHE)
	cd tools/goreleaser && $(GO) build -o ../../$(GORELEASER) github.com/goreleaser/goreleaser/v2

.PHONY: generate
generate: ## Write the generated docs
	$(GO) run ./internal/docgen

.PHONY: verify
verify: ## Check that generated docs and go.mod are current
	$(GO) run ./internal/docgen -check
	$(GO) mod tidy -diff
	$(GO) mod verify

.PHONY: bench
bench: controlplane ## Run the benchmarks, on a real API server too
	$(GO) test -p 1 -tags integration -run '^$$' -bench . -benchmem ./...

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin $(CACHE)
