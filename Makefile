# Needs Go, git and make; make check needs a C compiler, too, for the race detector.
GO ?= go
VERSION ?= 0.1.0-dev
LDFLAGS = -s -w -X main.version=$(VERSION) $(LINKFLAGS)
BINARY ?= bin/kubecascade
# All targets compile with the same flags, as Go's build cache has other entries for others: what make run has compiled,
# make build, make test and make check find there. The programs that targets run, and their go commands, inherit them.
# -trimpath lets checkouts in several folders share, too.
export CGO_ENABLED = 0
# Nothing in the binary may call methods by names that aren't constant, or the linker keeps all methods, and what runs
# seldom is not inlined: .ci/toolexec has the reasons, and does both. Package grpc leaves out its debug pages with the
# tag. Windows runs no scripts as a program: what is built there is larger.
TAGS = grpcnotrace
EDITS = '-toolexec="$(CURDIR)/.ci/toolexec"' -gcflags=all=-edit=$(word 1,$(shell cksum <.ci/toolexec))
SHARED := -trimpath -tags=$(TAGS) $(if $(filter Windows_NT,$(OS)),,$(EDITS))
# The largest that the stripped binary for linux/amd64 may be, in bytes.
LARGEST = 63000000
GIVEN := $(filter-out $(SHARED),$(shell $(GO) env GOFLAGS))
export GOFLAGS := $(GIVEN) $(SHARED)
# Suites of other projects and their libraries are compiled as these projects compile them.
envtest extensions webhooks: export GOFLAGS = $(GIVEN)
# The edits are of go.mod's etcd, and not of older ones.
etcd: export GOFLAGS = $(GIVEN) -trimpath
# go build that shows how many packages have been compiled; the last argument is the packages
BUILD = GO='$(GO)' '$(CURDIR)/.ci/build'
IMAGE ?= kubecascade:$(VERSION)
ARGS ?=

.PHONY: run build size first-start release release-check ui ui-check ui-test ui-bench man generated test check platforms race bench bench-clients bench-peer bench-helm servers diff conformance kubectl crds extensions helm webhooks rollback envtest etcd etcdutl backups meta previews settled soak faults chaos attack vulnerabilities image fuzz upstream-diff clean

run: build ## build and serve; ARGS are passed on
	@exec $(BINARY) serve $(ARGS)

build: ## the stripped binary, bin/kubecascade
	@$(BUILD) -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/kubecascade

size: build ## that the stripped binary is no larger than LARGEST
	@size=$$(wc -c <$(BINARY)); echo "$(BINARY): $$size bytes of at most $(LARGEST)"; test $$size -le $(LARGEST) || \
		{ echo 'docs/performance-notes.md, "The size of the binary", says how to find the reason'; exit 1; }

first-start: ## the times of a newcomer with the commit: clone, make run, first requests, make build, make test, without caches; DOWNLOAD=yes downloads modules again
	GO='$(GO)' .ci/first-start $(if $(DOWNLOAD),download)

# The version of a release is VERSION if that is given, else the one of git describe.
release: ## stripped binaries for six platforms with checksums, bills of materials and archives for Krew, in dist/: VERSION=, PLATFORMS=
	GO='$(GO)' VERSION='$(if $(filter file,$(origin VERSION)),,$(VERSION))' PLATFORMS='$(PLATFORMS)' .ci/release

release-check: ## build a release of HEAD twice, compare the bytes, then run tests/release
	GO='$(GO)' .ci/release-check

ui: ## the page in ui/dist from ui/src, with npm; the versions are those of ui/package-lock.json
	cd ui && npm ci --ignore-scripts --no-audit --no-fund && npm run check && npm run build

ui-check: ui ## ui, and that it changes nothing
	git diff --exit-code -- ui/dist ui/package-lock.json

ui-test: build ## the page in headless Chromium (Debian: chromium), or the browser that CHROMIUM names; screenshots in bin/ui
	$(GO) -C tests/ui mod tidy -diff
	$(GO) -C tests/ui vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/ui && "$$tool" ./...
	$(GO) -C tests/ui test -count=1 -timeout=20m -v . -binary=$(CURDIR)/$(BINARY) $(ARGS)

ui-bench: build ## figures of the page in headless Chromium: frames, memory, and what an open page costs the server
	cd tests/ui && $(GO) test -count=1 -timeout=20m -run='^$$' -bench=. -benchtime=1x . -binary=$(CURDIR)/$(BINARY) $(ARGS)

man: ## the man pages, in man/; their date is that of the commit, or SOURCE_DATE_EPOCH
	rm -rf man
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} TZ=UTC $(GO) run -tags man,$(TAGS) \
		-ldflags '-X main.version=$(VERSION)' ./cmd/kubecascade man

# The generators, and the folders whose files they write.
GENERATED = apiserver/openapi/markers apiserver/resources/internal/declared conformance/recorded conformance

generated: ## that go generate changes nothing: markers and validation from the types of k8s.io/api, recorded answers, the list of cases
	$(GO) generate $(GENERATED:%=./%)
	git diff --exit-code -- $(GENERATED)

test: ## the tests of the server, then those that drive it with real clients, uncached, because they run external binaries
	@$(BUILD) ./...
	@cd tests && $(BUILD) ./...
	$(GO) test -vet=off ./...
	$(GO) -C tests test -vet=off -count=1 ./...

# The platforms that are released, besides those of CI. check type-checks them, in seconds each; go vet compiles all
# dependencies for each, which takes minutes on a machine that has built nothing.
OTHERS = linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

platforms: ## go vet for all platforms, which takes minutes each for the first time
	for p in linux/amd64 $(OTHERS); do \
		echo $$p; CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet ./... || exit; done

# Packages with goroutines of their own.
RACE = . ./internal/server ./kubecascadetest ./apiserver ./apiserver/admission/... ./apiserver/audit ./apiserver/authentication ./apiserver/endpoints ./apiserver/filters/... ./apiserver/inflight ./apiserver/registry ./apiserver/budget ./apiserver/connections ./apiserver/discovery ./apiserver/exchange ./apiserver/expression ./apiserver/flowcontrol ./apiserver/metrics ./apiserver/pki ./apiserver/pool ./apiserver/resources ./apiserver/turns ./apiserver/webhook/... ./controllers/... ./gc/... ./internal/assets ./internal/platforms ./loopback ./storage/...

check: ## what a change must pass besides the tests
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'not gofmt-ed'; exit 1; }
	$(GO) mod tidy -diff
	$(GO) -C tests mod tidy -diff
	$(GO) vet ./...
	$(GO) vet -tags man,$(TAGS) ./cmd/kubecascade
	$(GO) run ./internal/platforms $(OTHERS)
	$(GO) -C tests vet ./...
	$(GO) -C tests/process vet ./...
	"$$($(GO) -C tests tool -n staticcheck)" ./...
	cd tests && $(GO) tool staticcheck ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/process && "$$tool" ./...
	concurrent=$$(GO='$(GO)' .ci/concurrent $(RACE)) && CGO_ENABLED=1 $(GO) test -vet=off -short -race $$concurrent
	$(MAKE) fuzz FUZZ=apiserver/endpoints FUZZTIME=15s FUZZJOBS=2 FUZZARGS=-test.parallel=1

race: ## the race detector with all tests: those that make check leaves out (-short), documents, which take long so, and the tests with real clients, whose libraries take minutes to build
	CGO_ENABLED=1 $(GO) test -vet=off -race $(RACE) ./apiserver/openapi
	CGO_ENABLED=1 $(GO) -C tests test -vet=off -race ./...

bench: build ## figures of this machine
	$(GO) build -o bin/bench ./internal/bench
	bin/bench -binary bin/kubecascade $(ARGS)

bench-clients: build ## what clients of client-go, controller-runtime and kubectl (-kubectl) see: requests, lists, informers, events; takes minutes to build
	$(GO) -C tests/clients mod tidy -diff
	$(GO) -C tests/clients vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/clients && "$$tool" ./...
	GOFLAGS='$(GIVEN)' $(GO) -C tests/clients run . -binary $(CURDIR)/$(BINARY) $(ARGS)

bench-peer: build ## custom resources by client-go, beside apiextensions-apiserver, which takes minutes to build for the first time
	GOFLAGS='$(GIVEN)' $(GO) -C tests/extensions build -o $(CURDIR)/bin/apiextensions-apiserver ./peer
	GOFLAGS='$(GIVEN)' $(GO) -C tests/clients run . -binary $(CURDIR)/$(BINARY) -only custom \
		-peer $(CURDIR)/bin/apiextensions-apiserver $(ARGS)

bench-helm: ## the installation of a large chart by Helm's library
	$(GO) -C tests/helm test -count=1 -run='^$$' -bench=Install -benchtime=10x . $(ARGS)

servers: ## what each of 50 servers in one process costs: time, memory, goroutines
	$(GO) run ./internal/bench/servers $(ARGS)

upstream-diff: ## what changed between go.mod's Kubernetes modules and VERSION=v0.38.0, as a work list: FROM=
	@test "$(origin VERSION)" != file || { echo 'usage: make upstream-diff VERSION=v0.38.0 [FROM=v0.37.0]'; exit 2; }
	@$(GO) run ./internal/upstreamdiff -to '$(VERSION)' $(if $(FROM),-from '$(FROM)') $(ARGS)

conformance: build ## the cases of conformance/ against this server, then recorded responses of a real one
	.ci/conformance

kubectl: ## the stories with kubectl of other minors, which take minutes to build: KUBECTLS=, STORIES=
	GO='$(GO)' GIVEN='$(GIVEN)' STORIES='$(STORIES)' .ci/kubectl $(or $(KUBECTLS),v0.35.10 v0.36.6 v0.37.2)

crds: ## the CustomResourceDefinitions of real projects, and objects of all their kinds
	$(GO) -C tests/crds mod tidy -diff
	$(GO) -C tests/crds vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/crds && "$$tool" ./...
	$(GO) -C tests/crds test -count=1 -timeout=20m -v ./... $(ARGS)

extensions: ## custom resources against apiextensions-apiserver, which takes minutes to build for the first time: SEED=
	$(GO) -C tests/extensions mod tidy -diff
	$(GO) -C tests/extensions vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/extensions && "$$tool" ./...
	$(GO) -C tests/extensions test -count=1 -timeout=20m ./... $(ARGS)

helm: ## a chart's life with Helm's library, which takes minutes to build for the first time
	$(GO) -C tests/helm mod tidy -diff
	$(GO) -C tests/helm vet ./...
	$(GO) -C tests/helm test -count=1 ./...

webhooks: ## suites of controller-runtime, and of a project as kubebuilder lays it out, with admission and conversion webhooks
	$(GO) -C tests/webhooks mod tidy -diff
	$(GO) -C tests/webhooks vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/webhooks && "$$tool" ./...
	$(GO) -C tests/webhooks test -count=1 -v . $(ARGS)

# With DIR the suites of the checkouts there, with controllers or without: CONTROLLERS=
envtest: ## suites that start envtest: controller-runtime's own, or with DIR= those of the checkouts there, as a table
	$(GO) -C tests/envtest mod tidy -diff
	$(GO) -C tests/envtest vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/envtest && "$$tool" ./...
	$(MAKE) build
	export KUBEBUILDER_ASSETS=$$($(CURDIR)/$(BINARY) envtest-assets --controllers='$(CONTROLLERS)') && \
		$(GO) -C tests/envtest $(if $(DIR),run ./checkouts $(abspath $(DIR)),test -count=1 -timeout=20m -v ./... $(ARGS))

rollback: ## tests with real clients that share servers, which are rolled back after each test; everything twice
	$(GO) -C tests/crds vet . && $(GO) -C tests/helm vet . && $(GO) -C tests/webhooks vet .
	for in in tests tests/crds tests/helm $(if $(ALL),tests/webhooks); do \
		KUBECASCADE_SHARED=1 $(GO) -C $$in test -vet=off -count=2 -timeout=20m . $(ARGS) || exit; done

etcd: ## the server over the oldest etcd 3.5 that is supported, and the one before; builds both, for minutes
	$(GO) -C tests/etcd mod tidy -diff
	$(GO) -C tests/etcd/rejected mod tidy -diff
	$(GO) -C tests/etcd vet ./...
	$(GO) -C tests/etcd test -count=1 ./...

etcdutl: ## a snapshot of the server, restored with etcd's own library
	$(GO) -C tests/etcdutl mod tidy -diff
	$(GO) -C tests/etcdutl vet ./...
	$(GO) -C tests/etcdutl test -count=1 ./...

backups: ## backups that upstream's serializers of each release since v1.17, encryption providers and etcd have written; builds them, for minutes
	$(GO) -C tests/backups mod tidy -diff
	$(GO) -C tests/backups vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/backups && "$$tool" ./...
	$(GO) -C tests/backups test -count=1 ./...

diff: build ## random operations on two servers of ours, one on a disk, which must do the same: SEEDS=, FROM= and OPS=
	.ci/diff $(or $(FROM),1) $(SEEDS) $(if $(filter-out 2000,$(OPS)),$(OPS),500)

soak: ## the random tests of make test, COUNT times, each time with another seed
	SEED=random $(GO) test -vet=off -count=$(or $(COUNT),20) -timeout=60m $$(grep -rl --include=*_test.go 'seed\.Of(t)' . | grep -v '^./tests/' | xargs -n1 dirname | sort -u) -run '$(or $(RUN),Random|Twin|Tree|Index|Pages|Missing|Conversions|FirstStart|Keys|Schedule|Walks)' $(ARGS)

# What make meta runs: SEED one seed, or SEEDS how many; OPS operations each.
SEED ?= 0
SEEDS ?= 20
OPS ?= 2000

meta: ## random operations against the model: SEED=, SEEDS= and OPS=
	$(GO) test ./conformance/meta -count=1 -timeout=60m $(VERBOSE) -seed=$(SEED) -seeds=$(SEEDS) -ops=$(OPS) $(ARGS)

settled: OPERATIONS = 10000
settled: ## random operations with settled after each, at which nothing may change any more; SEED= and OPERATIONS=
	OPERATIONS=$(OPERATIONS) SEED=$(SEED) $(GO) test ./internal/server -run=TestSettledIsTrue -count=1 -timeout=60m \
		$(VERBOSE) $(ARGS)

previews: SEEDS = 500
previews: ## deletions of random objects: what previews say, and what then happens; SEED= and SEEDS=
	SEEDS=$(SEEDS) SEED=$(SEED) $(GO) test ./internal/cluster -run=TestPreview -count=1 -timeout=60m $(VERBOSE) $(ARGS)

faults: ## kill servers inside cascades; ROUNDS of each test, trees and moments by SEED (printed)
	$(GO) test ./conformance/faults -count=1 -timeout=60m -v -rounds=$(or $(ROUNDS),20) -seed=$(SEED) $(ARGS)

vulnerabilities: ## known ones that the server calls; the database is on the network, and it is said if it can't be reached: GOVULNDB=
	GO='$(GO)' .ci/vulnerabilities

image: ## a container image
	docker build --build-arg VERSION=$(VERSION) -t $(IMAGE) .

chaos: ## kill, pause and part servers and the members of an etcd cluster for DURATION; drawn by SEED (printed)
	$(GO) test ./conformance/chaos -count=1 -timeout=3h -v -duration=$(or $(DURATION),10m) -seed=$(SEED) $(ARGS)

attack: build ## attacks on a server, with what another user notices of each; ATTACK=short for what CI runs, ONLY= by group/name
	$(GO) test ./conformance/attack -count=1 -timeout=60m -v -run '^TestAttacks$$' -binary=$(CURDIR)/bin/kubecascade -only='$(or $(ONLY),.)' $(if $(filter short,$(ATTACK)),,-full) $(ARGS)

FUZZ ?= .
FUZZTIME ?= 5m
FUZZJOBS ?= 1

# A package's tests are built once for all its targets, as to link them takes long, and only the project's own code tells
# where an input leads: with -fuzz go builds all that it imports once more. They are interrupted after FUZZTIME, which
# is one number with one unit (timeout of the GNU coreutils), as the flag -fuzztime fails now and then for no reason
# (golang/go#75804, mended in Go 1.27).
fuzz: ## every fuzz target below FUZZ, each for FUZZTIME, FUZZJOBS at a time
	@dirs=$$(grep -rlE --include=*_test.go '^func Fuzz' $(FUZZ) | xargs -rn1 dirname | sort -u); \
		test -n "$$dirs" || { echo 'no fuzz target below $(FUZZ)'; exit 1; }; \
		for dir in $$dirs; do \
		$(GO) test -vet=off -c -gcflags='$(shell $(GO) list -m)/...=-d=libfuzzer' -o bin/fuzz/$$dir/fuzz.test ./$$dir || exit; done
	@grep -rHoE --include=*_test.go '^func Fuzz[A-Za-z]+' $(FUZZ) | sed 's/:func / /' | sort | \
		cache="$$($(GO) env GOCACHE)/fuzz" xargs -L1 -P$(FUZZJOBS) sh -c 'echo "$$1 ($$0)"; dir=$$(dirname $$0); built="$$PWD/bin/fuzz/$$dir/fuzz.test"; \
		cd "$$dir" && timeout --foreground --preserve-status -s INT $(FUZZTIME) "$$built" -test.run "^$$" -test.fuzz "^$$1\$$" -test.fuzzcachedir "$$cache/$$dir" $(FUZZARGS)'

clean:
	rm -rf bin dist man kubecascade-data
