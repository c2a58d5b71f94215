# The targets a newcomer needs: demo, then check while working and test before a
# commit lands. Every target works in a fresh checkout on a machine with Go;
# scripts/setup.sh installs what is missing.
GO     ?= go
# The comments that scripts/words may find; it only goes down.
WORDS  := 0
LINT   := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
RACE   := $(shell scripts/race.sh)

# go.work lists the modules; in a workspace one command reaches all of them.
NESTED := $(shell sed -n 's|^\t\./||p' go.work)
ALL    := ./... $(NESTED:%=./%/...)
# These start no goroutine: TestHouseOneGoroutine.
SERIAL := ./core ./docs/... ./loadmode ./permission ./library/internal/textedit ./scripts/... ./skillmd ./tools \
	$(addprefix ./internal/,cachecost/cachemodel engine/judging engine/lifetime linux/seccomp text/callargs text/plainjson text/printable text/redact text/shellcmd/... text/prompttext tracing/...)
# These stand on drivers that take minutes to compile for the race detector, which what
# they share with others is run under in its own room.
HEAVY  := ./cmd/satchel/... ./artifacts/blobstore/... ./library/sqlstore/... ./benchmark/...
# Each of these is a page's program over rooms that are run under the race detector
# themselves. Only chat-server serves many users at once.
PAGES  = $(filter-out %/chat-server,$(shell $(GO) list ./examples/...))
# These wait for servers, processes and time limits. They begin first, so that others have
# the processors meanwhile: what waits last, waits alone.
WAITS  := $(addprefix ./,session/pgstore session/redisstore session artifacts internal/files/deps executor/docker executor/... protocol/... protocol/mcp test/run)
RACED   = $(filter-out $(shell $(GO) list $(SERIAL) $(HEAVY)) $(PAGES),$(shell $(GO) list $(WAITS) $(ALL)))
# These tests play many or long conversations of one kind: a part of them under the race
# detector (-short), all of them without. TestHouseShortTests holds that it is these.
PLAYS  := -run '^Test(NoForbiddenCallReachesATool|Conversations|Crash|TheRecordGrowsLittle|PoliciesKeepTheInvariants|PricesKeepTheInvariants|Size)$$' ./adapter/... ./test/conversation ./session/pgstore ./session/redisstore

# Tests run in an order that this seed gives: make test SHUFFLE=1 repeats one.
SHUFFLE ?= $(shell date +%s)
export SHUFFLE
SHUFFLED := -exec $(CURDIR)/scripts/shuffled.sh
# Vetting is a part of its own, and nobody debugs what is linked.
BARE := -vet=off -ldflags=-w

# The race detector keeps each process for a second after its end, and the tests start
# hundreds of them.
export GORACE ?= atexit_sleep_ms=0
# Test binaries live for seconds: with garbage collected half as often, those of the adapters,
# of conversations and of the command take a tenth less processor time, for more memory.
test check unit unit-lone unit-as-user: export GOGC ?= 200

# The race detector needs cgo. All else goes without: programs that start no libc begin
# sooner, and each command in a sandbox begins as a copy of its host.
check vet unit-lone unit-as-user: export CGO_ENABLED := 0

# What `make test` does side by side; the lines of one part stay together.
TOGETHER := -j6 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: demo check test setup fmt vet vet-others unit unit-lone unit-as-user lint release-check bench bench-cache bench-agents scale mcp-clients podman fuzz

demo: ## one task through both frameworks, without a key and without a network
	$(GO) run ./cmd/satchel demo

check: fmt vet ## what changed: build, vet and tests, in under a minute when little did
	$(GO) build $(ALL)
	$(GO) test $(BARE) $(SHUFFLED) $(ALL)

test: setup ## everything that must hold before a commit lands
	@echo "tests are shuffled with seed $(SHUFFLE)"
	@$(MAKE) --no-print-directory $(TOGETHER) fmt unit unit-lone unit-as-user vet vet-others

setup: ## finds or installs what the tests need
	scripts/setup.sh

fmt:
	@out=$$(gofmt -l .); test -z "$$out" || { echo "gofmt wants: $$out"; exit 1; }

vet:
	$(GO) vet $(ALL)
	$(GO) vet -tags cloud ./cmd/satchel
	scripts/vet-alone.sh

vet-others: ## the systems that this one is not; the adapters are the same on all
	GOOS=windows $(GO) vet $$($(GO) list ./... | grep -v /adapter/)
	GOOS=darwin $(GO) vet $$($(GO) list ./... | grep -v /adapter/)

unit: ## all tests under the race detector, but for the rooms of unit-lone
	@$(GO) test $(BARE) -short $(RACE) $(SHUFFLED) $(RACED)

unit-lone: ## what gains nothing from the race detector, or is too much for it
	@$(GO) test $(BARE) $(SHUFFLED) -tags cloud $(HEAVY) $(SERIAL) $(PAGES)
	@$(GO) test $(BARE) $(SHUFFLED) -run '^TestWithoutBuckets$$' ./cmd/satchel
	@$(GO) test $(BARE) $(SHUFFLED) $(PLAYS)

unit-as-user: ## rooms that start programs or keep files, as an ordinary user
	@scripts/unit-as-user.sh

lint: ## golangci-lint with .golangci.yml, of all modules at once, and the words of comments
	$(GO) run ./scripts/words -max $(WORDS)
	$(GO) run $(LINT) run $(ALL)

release-check: ## a release can be got, imported and installed, from nothing
	scripts/release-check.sh

bench: ## what a model call costs
	$(GO) test -run '^$$' -bench . -benchmem ./test/... ./skillmd ./catalog ./session ./adapter/...

bench-cache: ## what each system costs with a prompt cache; ARGS are its flags
	$(GO) run ./benchmark -json benchmark/out/cache.json -html benchmark/out/cache.html $(ARGS)

bench-agents: ## what skills cost in the agents that people use, installed from npm; ARGS are its flags
	scripts/bench-agents.sh $(ARGS)

SEED ?= $(shell date +%s)
scale: ## three replicas over real servers while both are killed, at full size; SEED repeats one
	scripts/scale.sh $(SEED)

mcp-clients: ## the conformance suite and inspector of MCP, installed from npm, ask satchel mcp
	scripts/mcp-clients.sh

podman: ## the suite of executors in containers of Podman, if it is installed; ARGS are flags of go test
	scripts/podman.sh $(ARGS)

fuzz: ## a minute of fuzzing for each parser
	scripts/fuzz.sh 60s
