# The targets a newcomer needs: demo, then test. Every target works in a fresh
# checkout on a machine with Go; scripts/setup.sh installs what is missing.
GO      ?= go
MODULES := . benchmark cmd/satchel examples
ROOMS   := . ./core/... ./skillmd/... ./catalog/... ./session/... ./loadmode/... ./permission/... ./processors/... ./tools/... \
           ./artifacts/... ./outputs/... ./workspace/... ./executor/... ./terminal/... ./internal/...
RACE    := $(shell scripts/race.sh)

.PHONY: demo test setup fmt vet unit alone bench bench-cache fuzz lint

demo: ## one task through both frameworks, without a key and without a network
	cd cmd/satchel && $(GO) run . demo ../../examples/skills

test: setup fmt vet unit alone ## everything that must hold before a commit lands

setup: ## finds or installs what the tests need
	scripts/setup.sh

fmt:
	@out=$$(gofmt -l .); test -z "$$out" || { echo "gofmt wants: $$out"; exit 1; }

vet:
	@set -e; for m in $(MODULES); do (cd $$m && $(GO) vet ./...); done
	GOOS=windows $(GO) vet $(ROOMS)
	GOOS=darwin $(GO) vet $(ROOMS)

unit:
	@set -e; for m in $(MODULES); do echo "== $$m"; (cd $$m && $(GO) test $(RACE) -shuffle=on ./...); done
	scripts/unit-as-user.sh

alone: ## every nested module also builds without the workspace
	@set -e; for m in $(filter-out .,$(MODULES)); do (cd $$m && GOWORK=off $(GO) build ./... && GOWORK=off $(GO) vet ./...); done

bench: ## what a model call costs
	$(GO) test -run '^$$' -bench . -benchmem . ./skillmd ./catalog ./session ./adapter/...

bench-cache: ## what each system costs with a prompt cache; ARGS are its flags
	$(GO) run ./benchmark -json benchmark/out/cache.json -html benchmark/out/cache.html $(ARGS)

fuzz: ## a minute of fuzzing for each parser
	scripts/fuzz.sh 60s

lint: ## golangci-lint with .golangci.yml
	@set -e; for m in $(MODULES); do (cd $$m && $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...); done
