# Needs Go, git and make; make check needs a C compiler, too, for the race detector.
GO ?= go
VERSION ?= 0.1.0-dev
LDFLAGS = -s -w -X main.version=$(VERSION)
BINARY ?= bin/kubecascade
# All targets compile with the same flags, so they share Go's build cache; checkouts in several folders share, too.
export GOFLAGS := $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath
IMAGE ?= kubecascade:$(VERSION)
ARGS ?=

.PHONY: run build release release-check ui ui-check ui-test ui-bench man generated test check platforms race bench diff conformance kubectl crds extensions helm webhooks rollback envtest etcd etcdutl backups meta previews settled soak faults chaos attack vulnerabilities image fuzz upstream-diff clean

run: build ## build and serve; ARGS are passed on
	@exec $(BINARY) serve $(ARGS)

build: ## the stripped binary, bin/kubecascade; the first time it compiles about 1,100 packages, for a minute or two
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/kubecascade

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
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} TZ=UTC $(GO) test ./cmd/kubecascade -count=1 \
		-run '^TestManPages$$' -ldflags '-X $(shell $(GO) list -m)/cmd/kubecascade.version=$(VERSION)' -man $(CURDIR)/man

# The generators, and the folders whose files they write.
GENERATED = apiserver/openapi/markers apiserver/resources/internal/declared conformance/recorded conformance

generated: ## that go generate changes nothing: markers and validation from the types of k8s.io/api, recorded answers, the list of cases
	$(GO) generate $(GENERATED:%=./%)
	git diff --exit-code -- $(GENERATED)

test: ## the tests of the server, then those that drive it with real clients, uncached, because they run external binaries
	$(GO) test -vet=off ./...
	$(GO) -C tests test -vet=off -count=1 ./...

# The platforms that are released, besides linux/amd64. check compiles two, for a minute or two each the first time.
OTHERS = linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

platforms: ## go build for all platforms, or OTHERS=
	for p in $(OTHERS); do echo $$p; GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./... || exit; done

# Packages with goroutines of their own.
RACE = . ./internal/server ./kubecascadetest ./apiserver ./apiserver/admission/... ./apiserver/audit ./apiserver/authentication ./apiserver/endpoints ./apiserver/filters/... ./apiserver/registry ./apiserver/discovery ./apiserver/expression ./apiserver/flowcontrol ./apiserver/metrics ./apiserver/pki ./apiserver/resources ./apiserver/webhook/... ./controllers/... ./gc/... ./internal/assets ./loopback ./storage/...

check: ## what a change must pass besides the tests
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'not gofmt-ed'; exit 1; }
	$(GO) mod tidy -diff
	$(GO) -C tests mod tidy -diff
	$(GO) vet ./...
	$(MAKE) platforms OTHERS='windows/amd64 darwin/arm64'
	$(GO) -C tests vet ./...
	$(GO) -C tests/process vet ./...
	"$$($(GO) -C tests tool -n staticcheck)" ./...
	cd tests && $(GO) tool staticcheck ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/process && "$$tool" ./...
	$(GO) test -vet=off -short -race $(RACE)

race: ## the race detector with all tests: those that make check leaves out (-short), documents, which take long so, and the tests with real clients, whose libraries take minutes to build
	$(GO) test -vet=off -race $(RACE) ./apiserver/openapi
	$(GO) -C tests test -vet=off -race ./...

# -list prints the names of all figures, -only REGEXP selects some, -against BINARY and -peer BINARY compare, -runs N,
# -scale 0.05 for a trial, -profile DIR, -servers N for servers in one process, -json.
bench: build ## figures of this machine, for about 40 minutes, or some: ARGS='-only create'; beside others: ARGS='-against BINARY'
	$(GO) -C tests build -o $(CURDIR)/bin/bench ./bench
	bin/bench -binary $(BINARY) $(ARGS)

upstream-diff: ## what changed between go.mod's Kubernetes modules and VERSION=v0.38.0, as a work list: FROM=
	@test "$(origin VERSION)" != file || { echo 'usage: make upstream-diff VERSION=v0.38.0 [FROM=v0.37.0]'; exit 2; }
	@$(GO) run ./internal/upstreamdiff -to '$(VERSION)' $(if $(FROM),-from '$(FROM)') $(ARGS)

conformance: build ## the cases of conformance/ against this server, then recorded responses of a real one
	.ci/conformance

kubectl: ## the stories with kubectl of other minors, which take minutes to build: KUBECTLS=, STORIES=
	GO='$(GO)' STORIES='$(STORIES)' .ci/kubectl $(or $(KUBECTLS),v0.35.10 v0.36.6 v0.37.2)

crds: ## the CustomResourceDefinitions of real projects, and objects of all their kinds
	$(GO) -C tests/crds mod tidy -diff
	$(GO) -C tests/crds vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/crds && "$$tool" ./...
	$(GO) -C tests/crds test -count=1 -timeout=20m -v ./... $(ARGS)

# The peer's own package for tests looks for its files beside its source, whose path -trimpath omits.
extensions: ## custom resources against apiextensions-apiserver, which takes minutes to build for the first time: SEED=
	$(GO) -C tests/extensions mod tidy -diff
	$(GO) -C tests/extensions vet ./...
	tool="$$($(GO) -C tests tool -n staticcheck)" && cd tests/extensions && "$$tool" ./...
	GOFLAGS='$(filter-out -trimpath,$(GOFLAGS))' $(GO) -C tests/extensions test -count=1 -timeout=20m ./... $(ARGS)

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

backups: ## backups that upstream's serializers of releases since v1.29, encryption providers and etcd have written; builds them, for minutes
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

attack: ## attacks on a server, with what another user notices of each; make test runs a short form: ONLY=
	$(GO) -C tests test ./attack -count=1 -timeout=60m -v -run '^TestAttacks$$' -full -only='$(or $(ONLY),.)' $(ARGS)

FUZZ ?= .
FUZZTIME ?= 5m

fuzz: ## every fuzz target below FUZZ, each for FUZZTIME
	@grep -rHoE --include=*_test.go '^func Fuzz[A-Za-z]+' $(FUZZ) | sed 's/:func / /' | sort | while read -r file name; do \
		$(GO) test -vet=off -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file) || exit; done

clean:
	rm -rf bin dist man kubecascade-data
