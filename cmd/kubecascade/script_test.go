package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.etcd.io/etcd/server/v3/embed"
)

// tests wraps the tests of this package: kubectl is on the PATH while they run.
type tests struct{ *testing.M }

func (m tests) Run() int {
	dir, err := os.MkdirTemp("", "kubecascade-kubectl-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = buildKubectl(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building kubectl:", err)
		return 1
	}
	os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return m.M.Run()
}

// programs are the commands of this binary.
var programs = map[string]func(){"kubecascade": main}

func TestMain(m *testing.M) {
	if roles[roleOf(os.Args[0])] != nil { // role_test.go and plugin.txtar make links to the tests
		main()
		return
	}
	testscript.Main(tests{m}, programs)
}

// buildKubectl puts kubectl into the directory: the one that $KUBECTL names, so that other versions
// can be tried, or else it builds one from the module of the tests with real clients, as this one doesn't
// depend on it. The version is that of k8s.io/kubectl there, which must be set at build time.
func buildKubectl(dir string) error {
	if other := os.Getenv("KUBECTL"); other != "" {
		return os.Symlink(other, filepath.Join(dir, "kubectl"))
	}
	c := exec.Command("go", "build", "-C", filepath.Join("..", "..", "tests"), "-o", filepath.Join(dir, "kubectl"),
		"-ldflags",
		"-X k8s.io/component-base/version.gitVersion=v1.37.2 -X k8s.io/component-base/version.gitMajor=1 "+
			"-X k8s.io/component-base/version.gitMinor=37", "./kubectl")
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return c.Run()
}

// update rewrites the expected output of stories, such as the help in usage.txtar.
var update = flag.Bool("update", false, "rewrite the files that scripts compare with")

// TestScripts plays the stories of testdata/script. Each has a directory of its own, with the
// examples of this repository, and these commands besides testscript's:
//
//	serve, signal, exits,
//	shutdown                    run servers (process_test.go)
//	http, open, sees, finish    make requests (request_test.go, open_test.go)
//	kubectl, refused, until,
//	capture, fill, filler, cut,
//	mode, empty, passed, code   run commands, wait for them, and look at files (command_test.go)
//	documented, transcript      compare with what documents show (documented_test.go)
//	etcd                        runs an etcd cluster of one (etcd_test.go)
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		Setup:         setup,
		UpdateScripts: *update,
		Condition: func(c string) (bool, error) {
			if c != "ipv6" {
				return false, fmt.Errorf("condition %q is unknown", c)
			}
			ln, err := net.Listen("tcp", "[::1]:0")
			if err != nil {
				return false, nil
			}
			return true, ln.Close()
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": serveBackground, "signal": signalServer, "exits": exits, "shutdown": shutdown,
			"http": httpRequest, "open": openRequest, "sees": sees, "finish": finishRequest,
			"kubectl": kubectl, "refused": refused, "until": until, "capture": capture, "fill": fill, "cut": cut, "mode": mode,
			"empty": empty, "filler": filler, "csr": csr,
			"passed": passed, "code": code,
			"etcd": startEtcd, "documented": documented,
			"transcript": transcript,
		},
	})
}

// story holds the processes and requests of a script.
type story struct {
	servers  map[string]*process
	requests map[string]*opened
	etcd     *embed.Etcd
}

type storyKey struct{}

func of(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

func setup(e *testscript.Env) error {
	e.Values[storyKey{}] = &story{servers: map[string]*process{}, requests: map[string]*opened{}}
	e.Setenv("HOME", filepath.Join(e.WorkDir, "home")) // kubectl keeps its cache there
	return os.CopyFS(filepath.Join(e.WorkDir, "examples"), os.DirFS(filepath.Join("..", "..", "examples")))
}
