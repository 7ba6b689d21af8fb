# Needs Go, git and make; check and race need a C compiler, too. make help prints the comments that begin with ##.
GO ?= go
VERSION ?= 0.1.0-dev
LDFLAGS = -s -w -X main.version=$(VERSION)
BINARY ?= bin/kubecascade
PREFIX ?= /usr/local
IMAGE ?= kubecascade:$(VERSION)
ARGS ?=
# All targets compile with the same flags, so they share Go's build cache, even in several checkouts.
export GOFLAGS := $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath
# The scripts in .ci use these variables, and those of the command line.
export GO BINARY ARGS

.PHONY: help run build install test check race generate conformance e2e chaos attack soak bench ui release image clean

## help         print this list; times are for two processors
help:
	@sed -n 's/^## //p' Makefile

## run          build and serve: ARGS= flags
run: build
	@exec $(BINARY) serve $(ARGS)

## build        build the stripped binary, bin/kubecascade; the first time takes three minutes, for 1,100 packages
build:
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BINARY) ./cmd/kubecascade

## install      install the binary and the man pages: PREFIX=/usr/local, DESTDIR=
install: build
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/share/man/man1'
	install $(BINARY) '$(DESTDIR)$(PREFIX)/bin/kubecascade'
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} TZ=UTC $(GO) test ./cmd/kubecascade -count=1 \
		-run '^TestCommandsHaveManPages$$' -ldflags '-X $(shell $(GO) list -m)/cmd/kubecascade.version=$(VERSION)' \
		-man '$(abspath $(DESTDIR)$(PREFIX)/share/man/man1)'

## test         run the tests of the server, then those with kubectl and client-go as its clients: two minutes, but 14 if
##              nothing is compiled yet
test: build
	$(GO) test -vet=off ./...
	KUBECASCADE_BINARY=$(abspath $(BINARY)) $(GO) -C tests test -vet=off -count=1 ./...

# The packages in which goroutines share most.
RACE = . ./internal/server ./apiserver ./apiserver/admission/dynamic ./apiserver/authentication ./apiserver/endpoints \
	./apiserver/filters ./apiserver/flowcontrol ./apiserver/registry ./gc ./gc/trail ./loopback \
	./storage ./storage/cache ./storage/storagetest

## check        run gofmt, go mod tidy, go vet, staticcheck, and with the race detector the short tests of RACE: four
##              minutes, but ten if nothing is compiled yet
check:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'not gofmt-ed'; exit 1; }
	for m in . tests; do $(GO) -C $$m mod tidy -diff && $(GO) -C $$m vet ./... || exit; done
	tool="$$($(GO) -C tests tool -n staticcheck)" && "$$tool" ./... && cd tests && "$$tool" ./...
	$(GO) test -vet=off -short -race $(RACE)

## race         run all tests with the race detector
race:
	for m in . tests; do $(GO) -C $$m test -vet=off -race ./... || exit; done

## generate     run go generate: from the types of k8s.io/api, the recorded responses and the cases
generate:
	$(GO) generate ./apiserver/openapi/markers ./apiserver/resources/internal/declared ./conformance/...

## conformance  run the cases of conformance/ on this server, then replay the responses recorded from a real one: two
##              minutes
conformance: build
	.ci/conformance

## e2e          run suites with other clients, which take minutes to build: SUITE=kubectl|helm|crds|webhooks|envtest|
##              etcd|backups|extensions|aggregation|kwok|ui|rollback, or several; .ci/e2e describes them
e2e: build
	.ci/e2e $(SUITE)

## chaos        kill, pause and disconnect servers and members of an etcd cluster: DURATION=10m, SEED= (printed)
chaos:
	$(GO) -C tests test ./chaos -count=1 -timeout=3h -v -duration=$(or $(DURATION),10m) -seed=$(or $(SEED),0) $(ARGS)

## attack       attack a server, and measure the effect on another user: ONLY=
attack:
	$(GO) -C tests test ./attack -count=1 -timeout=60m -v -run '^TestAttacksExceedNoLimit$$' \
		-full -only='$(or $(ONLY),.)' $(ARGS)

## soak         run random operations and faults, for minutes or hours: SUITE=random|meta|settled|previews|faults|diff|
##              fuzz, SEED= repeats a run; .ci/soak describes them
soak:
	.ci/soak $(or $(SUITE),random)

## bench        measure this machine, for 40 minutes; ARGS='-only create' selects figures, ARGS='-against BINARY'
##              compares with another binary, -list prints the figures, -help the other flags
bench: build
	$(GO) -C tests build -o $(CURDIR)/bin/bench ./bench
	bin/bench -binary $(BINARY) $(ARGS)

## ui           build the page in ui/dist from ui/src, with npm and the versions of ui/package-lock.json
ui:
	cd ui && npm ci --ignore-scripts --no-audit --no-fund && npm run check && npm run build

## release      write dist/: binaries for six platforms, checksums, bills of materials, Krew archives (VERSION=,
##              PLATFORMS=); CHECK=1 builds HEAD twice instead, compares the bytes and tests the files
release:
	VERSION='$(if $(filter file,$(origin VERSION)),,$(VERSION))' .ci/release$(if $(CHECK),-check)

## image        build a container image: VERSION=, IMAGE=
image:
	docker build --build-arg VERSION=$(VERSION) -t $(IMAGE) .

## clean        remove built files and kubecascade-data
clean:
	rm -rf bin dist kubecascade-data
