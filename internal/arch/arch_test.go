package arch

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kubecascade/kubecascade"

// pkg is the output of go list for a package.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	// IgnoredGoFiles are files for other platforms.
	IgnoredGoFiles []string
	Imports        []string
	Deps           []string
}

// packages lists the module's packages that have code besides tests.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,IgnoredGoFiles,Imports,Deps", module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
	if len(all) < 10 {
		t.Fatalf("go list found only %d packages", len(all))
	}
	return all
}

// forbidden imports. from and to are paths below the module, or whole paths for others; a name
// represents everything below it too. deep forbids the import by way of others as well.
var forbidden = []struct {
	from, to string
	deep     bool
	why      string
}{
	{"finalizers", "net", true, "it is pure: values in, a verdict out"},
	{"finalizers", "os", false, "it is pure: values in, a verdict out"},
	{"finalizers", "sync", false, "it is pure: nothing in it is shared"},
	{"finalizers", "context", true, "it is pure: nothing in it waits"},
	{"finalizers", "k8s.io", true, "its types are its own; metav1 alone brings net/http"},
	{"gc/graph", "net", true, "it is pure: Step(Event) []Action"},
	{"gc/graph", "os", false, "it is pure: Step(Event) []Action"},
	{"gc/graph", "sync", false, "it is pure: one owner, no locks"},
	{"gc/graph", "context", true, "it is pure: nothing in it waits"},
	{"gc/graph", "k8s.io", true, "its types are its own; metav1 alone brings net/http"},
	{"gc/graph", module + "/storage", true, "it knows objects by its own types, not by how they are stored"},
	{"gc/explain", "net", true, "it is pure: a cluster in, an answer out"},
	{"gc/explain", "os", false, "it is pure: a cluster in, an answer out"},
	{"gc/explain", "sync", false, "it is pure: nothing in it is shared"},
	{"gc/explain", "context", true, "it is pure: nothing in it waits"},
	{"gc/explain", "k8s.io", true, "its types are its own; metav1 alone brings net/http"},
	{"gc/explain", module + "/storage", true, "clusters are values, wherever they were read"},
	{"faults", module, false, "it decides, and does not depend on how the server executes an effect"},
	{"faults", "net", true, "it is pure: requests are values"},
	{"faults", "os", false, "it is pure: plans are documents"},
	{"faults", "context", true, "it is pure: nothing in it waits"},
	{"faults", "k8s.io", true, "its types are its own"},
	{"internal/selection", module + "/apiserver", false, "it knows a server by its discovery and its lists"},
	{"internal/selection", module + "/storage", false, "it knows a server by its discovery and its lists"},
	{"gc/trail", module, false, "it records what others report"},
	{"gc/trail", "net", true, "requests are values"},
	{"gc/trail", "k8s.io", true, "its types are its own; clients that print an answer link nothing else"},
	{"usage", module, false, "it is pure: objects in, quantities out"},
	{"storage", module + "/apiserver", true, "data flows one way: the store doesn't know what its values mean"},
	{"storage", module + "/gc", true, "data flows one way"},
	{"storage", "k8s.io/api", true, "the store doesn't know Kubernetes' types"},
	{"gc", module + "/apiserver", true, "the collector's requests go through the interface that it declares"},
	{"gc", "net/http", false, "only its debug handler speaks HTTP"},
	{"controllers", module + "/apiserver", true, "controllers reach the API through interfaces that they declare"},
	{"controllers", module + "/storage", true, "controllers see the API, not how it is stored"},
	{"controllers", "net/http", false, "controllers reach the API through interfaces that they declare"},
	{"apiserver", module + "/gc/graph", true, "the collector is a client like any other, by no interface of its own"},
	{"apiserver", module + "/controllers", true, "controllers are clients like any other"},
	{"apiserver", module + "/loopback", true, "loopback is built on the server, not the other way round"},
	{"apiserver/registry", "net/http", false, "it carries out requests of the process's own, too: it knows no HTTP"},
	{"apiserver/resources", module + "/storage/cache", true, "the table is data: it reads nothing"},
	{"apiserver/resources", "net/http", false, "hooks of kinds know no HTTP"},
	{"apiserver/admission", module + "/storage", false, "a plugin is given what it may look up"},
	{"conformance", module + "/apiserver", true, "it speaks HTTP only: any server can be tested"},
	{"conformance", module + "/storage", true, "it speaks HTTP only: any server can be tested"},
	{"conformance", module + "/finalizers", true, "it proves what they decide: it can't ask them"},
	{"conformance", module + "/gc", true, "it proves what the collector does: it can't ask it"},
	{"cmd", module + "/internal/server", false, "it is a thin user of the package at the root"},
	{"cmd", module + "/loopback", false, "it is a thin user of the package at the root"},
	{"cmd", module + "/gc", false, "it is a thin user of the package at the root"},
	{"internal/server", module + "/cmd", true, "parts of a server don't know the program"},
	{"internal/server", "flag", false, "flags belong to the process"},
	{"internal/server", "os/signal", false, "signals belong to the process"},
	{"internal/server", "github.com/spf13/pflag", false, "flags belong to the process"},
	{"internal/server", "github.com/spf13/cobra", false, "flags belong to the process"},
	{".", "k8s.io/kubernetes", true, "its behaviour is reproduced, its code isn't used"},
	{".", "k8s.io/apiserver", false, "its behaviour is reproduced, its code isn't used"},
	{".", "k8s.io/apiserver/pkg/registry/generic", true, "its behaviour is reproduced, its code isn't used"},
	{
		".", "k8s.io/apiserver/pkg/storage/etcd3", true,
		"its behaviour is reproduced, its code isn't used; types of pkg/storage come with its libraries",
	},
	{".", "k8s.io/client-go/informers", true, "the cache of this server is the only one"},
	{".", "k8s.io/client-go/listers", true, "the cache of this server is the only one"},
	{".", "k8s.io/client-go/kubernetes", true, "requests inside the process need no client; it adds 7 MB"},
	{".", "k8s.io/client-go/dynamic", true, "requests inside the process need no client"},
	{".", "k8s.io/apiserver/pkg/admission/initializer", true, "it brings informers and clientsets, which add 7 MB"},
	{
		".", "k8s.io/apiserver/pkg/admission/plugin/policy/generic", true,
		"it brings informers and clientsets, which add 7 MB",
	},
	{
		".", "k8s.io/apiserver/pkg/admission/plugin/webhook/generic", true,
		"it brings informers and clientsets, which add 11 MB",
	},
	{".", module + "/tests", true, "the tests' clients are no dependency of the server"},
}

// except are files' packages that a rule spares, with the reason.
var except = map[string]string{
	"gc -> net/http":                                        "debug.go serves the graph",
	"cmd/kubecascade -> " + module + "/gc":                  "gc/explain answers what its commands ask",
	"apiserver/aggregator -> k8s.io/apiserver":              "the user of a request is data",
	"loopback -> k8s.io/apiserver":                          "the user of a request is data",
	"apiserver/authorization -> k8s.io/apiserver":           "the user of a request is data",
	"apiserver/authorization/rbac -> k8s.io/apiserver":      "the user of a request is data",
	"apiserver/authentication -> k8s.io/apiserver":          "the user of a request is data",
	"apiserver/filters -> k8s.io/apiserver":                 "the user of a request is data",
	"apiserver/admission -> k8s.io/apiserver":               "names are generated by a library, of one package",
	"apiserver/registry -> k8s.io/apiserver":                "names are generated, and an error is made, by a library",
	"apiserver -> k8s.io/apiserver":                         "the pages for people who debug are handlers of a library",
	"apiserver/audit -> k8s.io/apiserver":                   "policies, events and backends are a library",
	"apiserver/bootstrap -> k8s.io/apiserver":               "the flow schemas of a new cluster are data",
	"apiserver/resources/flowcontrol -> k8s.io/apiserver":   "the mandatory objects are data",
	"conformance -> k8s.io/apiserver":                       "what a path names is parsed by upstream's own package",
	"controllers -> k8s.io/apiserver":                       "the objects of API Priority and Fairness are data",
	"controllers -> " + module + "/apiserver":               "APIServices are made from the table of types",
	"controllers -> " + module + "/storage":                 "it gives controllers their client",
	"apiserver/flowcontrol -> k8s.io/apiserver":             "fair queues are a library, without informers",
	"apiserver/render -> k8s.io/apiserver":                  "negotiation is a library, of one package",
	"apiserver/discovery -> k8s.io/apiserver":               "negotiation is a library, of one package",
	"apiserver/endpoints -> k8s.io/apiserver":               "continue tokens and negotiation are libraries",
	"apiserver/requestinfo -> k8s.io/apiserver":             "what a path names is parsed by upstream's own package",
	"apiserver/admission/dynamic -> " + module + "/storage": "configurations are read from the cache",
	"apiserver/admission/webhook -> k8s.io/apiserver":       "the Status of a denial is a library, of one package",
	"apiserver/webhook -> k8s.io/apiserver":                 "deprecated certificates are counted by a library",
	"apiserver/customresource -> k8s.io/apiserver":          "schemas of apiextensions-apiserver have types of CEL",
	"apiserver/expression -> k8s.io/apiserver":              "CEL in admission is a library",
	"apiserver/resources/dra -> k8s.io/apiserver":           "CEL of devices is a library",
	"apiserver/resources/entry -> k8s.io/apiserver":         "warnings of deprecated versions are a library",
	"internal/encryption -> k8s.io/apiserver":               "encryption at rest is a library, without KMS plugins",

	"apiserver/resources/admissionregistration -> k8s.io/apiserver": "URLs of webhooks are validated by a library",
	"apiserver/objecttest -> k8s.io/client-go/kubernetes":           "tests read objects with the clients' scheme",
}

// processWide are calls that change what belongs to the process; only programs make them.
var processWide = []string{"os.Exit(", "slog.SetDefault(", "memlimit.Set(", "signal.Notify(", "klog.Set",
	"flag.CommandLine", "os.Setenv("}

// steering are ways to steer the runtime or to reach into other packages' private parts; nothing in the product uses
// them.
var steering = []string{`"unsafe"`, "go:linkname", "UnsafePointer", "UnsafeAddr", "debug.SetGCPercent",
	"debug.SetMemoryLimit", "debug.FreeOSMemory", "debug.SetMaxThreads", "debug.SetPanicOnFault", "runtime.GC(",
	"runtime.Gosched", "runtime.MemProfileRate", "MADV_"}

// TestProductIsPlainGo: the product is compiled as it is written, and runs as the runtime decides.
func TestProductIsPlainGo(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if strings.HasPrefix(name, "conformance") {
			continue
		}
		for _, f := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			src, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			for _, way := range steering {
				if bytes.Contains(src, []byte(way)) {
					t.Errorf("%s/%s has %s", name, f, way)
				}
			}
			if set := setInInit(t, src); set != "" {
				t.Errorf("%s/%s: init sets %s", name, f, set)
			}
		}
	}
}

// setInInit is a variable of another package that an init of a file sets; empty if there is none.
func setInInit(t *testing.T, src []byte) (set string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Name.Name != "init" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok {
				for _, to := range a.Lhs {
					if s, ok := to.(*ast.SelectorExpr); ok {
						if of, ok := s.X.(*ast.Ident); ok && of.Obj == nil { // it is an import
							set = of.Name + "." + s.Sel.Name
						}
					}
				}
			}
			return true
		})
	}
	return set
}

// TestLibraryDoesNotChangeTheProcess: a server that is started as a library does not change its process.
func TestLibraryDoesNotChangeTheProcess(t *testing.T) {
	all, inServer := packages(t), map[string]bool{module: true}
	for _, p := range all {
		for _, d := range p.Deps {
			if p.ImportPath == module {
				inServer[d] = true
			}
		}
	}
	for _, p := range all {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if !inServer[p.ImportPath] {
			continue
		}
		for _, f := range p.GoFiles {
			src, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range processWide {
				if bytes.Contains(src, []byte(call)) {
					t.Errorf("%s/%s has %s, which belongs to the process", name, f, call)
				}
			}
		}
	}
}

// TestProgramHasTimeZones: the program has the time zones that CronJobs name, as an image from scratch and Windows have
// none.
func TestProgramHasTimeZones(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath == module+"/cmd/kubecascade" && !slices.Contains(p.Deps, "time/tzdata") {
			t.Errorf("%s does not link time/tzdata", p.ImportPath)
		}
	}
}

func TestForbiddenImportsAreAbsent(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, rule := range forbidden {
			if !below(name, rule.from) || except[name+" -> "+rule.to] != "" {
				continue
			}
			imports := p.Imports
			if rule.deep {
				imports = p.Deps
			}
			for _, i := range imports {
				if below(i, rule.to) {
					t.Errorf("%s imports %s: %s", name, i, rule.why)
				}
			}
		}
	}
}

// below reports whether path is root or something in it; "." is the module.
func below(path, root string) bool {
	return root == "." || path == root || strings.HasPrefix(path, root+"/")
}

// pure has the packages that take values and return a value: they receive the time, and start no goroutine. trail has
// state, but receives the time as well.
var pure = map[string]bool{"finalizers": true, "gc/graph": true, "gc/explain": true, "usage": true, "gc/trail": true,
	"faults": true}

// TestPurePackagesReceiveTheTime: the pure packages receive the time, and start no goroutine.
func TestPurePackagesReceiveTheTime(t *testing.T) {
	found := 0
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if !pure[name] {
			continue
		}
		found++
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range impure(f) {
				t.Errorf("%s/%s has %s: it is pure", name, file, what)
			}
		}
	}
	if found != len(pure) {
		t.Errorf("%d of %d packages were found", found, len(pure))
	}
}

// impure returns what a file has that depends on the clock or starts a goroutine.
func impure(f *ast.File) (found []string) {
	clock := map[string]bool{
		"Now": true, "Since": true, "Until": true, "After": true, "AfterFunc": true, "Sleep": true, "Tick": true,
		"NewTimer": true, "NewTicker": true,
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, "a go statement")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && x.Obj == nil && clock[n.Sel.Name] {
				found = append(found, "time."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// TestImpureCodeIsFound: the check finds what it is for.
func TestImpureCodeIsFound(t *testing.T) {
	const src = "package p\n\nfunc f(time clock) { go g(); time.Now() }\n\n" +
		"func g() { _ = time.Now; time.AfterFunc(0, g) }\n"
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a go statement", "time.Now", "time.AfterFunc"}
	if got := impure(f); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestOnePackageMakesInvalidResponses: only one package makes the response to invalid objects, as it limits its size.
func TestOnePackageMakesInvalidResponses(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if !below(name, "apiserver") || name == "apiserver/invalid" {
			continue
		}
		for _, f := range p.GoFiles {
			src, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(src, []byte("apierrors.NewInvalid(")) {
				t.Errorf("%s/%s uses apierrors.NewInvalid: apiserver/invalid bounds the answer", name, f)
			}
		}
	}
}

// TestPackageComments: each package has a list of its guarantees in doc.go.
func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		f, err := parser.ParseFile(
			token.NewFileSet(), filepath.Join(p.Dir, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		switch {
		case err != nil:
			t.Errorf("%s: %v", p.ImportPath, err)
		case f.Doc == nil || !strings.Contains(f.Doc.Text(), "\n 1. "):
			t.Errorf("%s: doc.go has no list of guarantees", p.ImportPath)
		}
	}
}

// vague names do not describe a package or file.
var vague = []string{"util", "utils", "helper", "helpers", "common", "manager", "misc", "base"}

func TestNamesAreNotVague(t *testing.T) {
	for _, p := range packages(t) {
		for _, n := range append([]string{filepath.Base(p.ImportPath)}, p.GoFiles...) {
			for _, v := range vague {
				if strings.TrimSuffix(n, ".go") == v {
					t.Errorf("%s: %s is no name", p.ImportPath, n)
				}
			}
		}
	}
}
