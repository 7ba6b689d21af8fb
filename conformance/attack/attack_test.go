package attack

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	full   = flag.Bool("full", false, "run all attacks, each for its time, and look at the other user's times")
	binary = flag.String("binary", "", "the server; built if empty")
	only   = flag.String("only", ".", "regular expression of the attacks to run, by group/name")
	how    = flag.Duration("for", 8*time.Second, "how long an attack goes on that doesn't say so itself")
)

// joins is the environment variable that makes a process of this program the attacker.
const joins = "ATTACK_JOINS"

func TestMain(m *testing.M) {
	if os.Getenv(joins) != "" {
		if err := Join(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(serve(m))
}

// serve builds the server, if there is none, and runs the tests.
func serve(m *testing.M) int {
	if *binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "attack-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // the system cleans up what can't be removed
	*binary = filepath.Join(dir, "kubecascade")
	build := exec.Command("go", "build", "-o", *binary, "../../cmd/kubecascade")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if build.Run() != nil {
		return 1
	}
	return m.Run()
}

// sources looks into all directories of the server that was built, which isn't imported: go test caches a result for as
// long as the files that tests have read are unchanged.
var sources = sync.OnceValue(func() error {
	return filepath.WalkDir(filepath.Join("..", ".."), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err // there may be no d
		}
		if name := d.Name(); name == "bin" || name == ".git" {
			return fs.SkipDir
		}
		return nil
	})
})

func options(t *testing.T) Options {
	t.Helper()
	if err := sources(); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Binary: *binary, Attacker: []string{"env", joins + "=1", exe}, For: *how, Memory: Standard.Memory}
	if o.Log = t.Output(); *full { // the table is enough
		o.Log = io.Discard
	}
	return o
}

// TestAttacks prints the effects of each attack on a server. In the short form it runs those whose result doesn't
// depend on the speed of the machine, each for a moment, and checks no times.
func TestAttacks(t *testing.T) {
	o, bounds := options(t), Standard
	if !*full {
		o.Most, bounds.P99 = 300*time.Millisecond, 0
	}
	which, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(Head())
	for _, a := range All() {
		if !which.MatchString(a.Title()) || !*full && !a.Short() {
			continue
		}
		row, err := Run(t.Context(), o, &a)
		if err != nil {
			t.Errorf("%s: %v", a.Title(), err)
			continue
		}
		fmt.Println(row.Line(bounds))
		for _, e := range row.Exceeded(bounds) {
			t.Errorf("%s: %s (%s)", a.Title(), e, a.Does)
		}
	}
}

// TestKilled: a server that uses more memory than its limit is ended, and the row reports it.
func TestKilled(t *testing.T) {
	o := options(t)
	o.Memory = 1 << 20
	row, err := Run(t.Context(), o, Find("calm/nothing"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "killed, as its memory passed 1 MiB"; row.Down != want {
		t.Errorf("down: %q instead of %q", row.Down, want)
	}
}

// TestTitles: each attack is found by its title, has a description and a bound.
func TestTitles(t *testing.T) {
	seen := map[string]bool{}
	defer func() {
		for title := range long {
			if !seen[title] {
				t.Errorf("%s is left out of the short form, and is no attack", title)
			}
		}
	}()
	for _, a := range All() {
		if seen[a.Title()] || Find(a.Title()) == nil {
			t.Errorf("%s is not the only one", a.Title())
		}
		seen[a.Title()] = true
		if !strings.HasSuffix(a.Does, ".") && a.Group != "calm" || a.Run == nil {
			t.Errorf("%s: %q", a.Title(), a.Does)
		}
	}
}

// TestReject: a request that isn't rejected, changes something or discloses a secret is found.
func TestReject(t *testing.T) {
	o := options(t)
	p, err := start(o.Binary, o.Memory, o.Log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
	if err := prepare(t.Context(), p, &Attack{Setup: furnishRejected}); err != nil {
		t.Fatal(err)
	}
	a := &Attacker{Target: p.target, answers: map[int]int{}}
	create := func(path string) bad {
		return bad{user: attacker, method: "POST", path: path, body: `{"metadata":{"name":"n"}}`, code: 201}
	}
	for what, c := range map[string]struct {
		row  bad
		want string
	}{
		"rejected":     {bad{user: stranger, method: "GET", path: secret, code: 403}, ""},
		"another code": {bad{user: stranger, method: "GET", path: secret, code: 404}, "[403] instead of 404"},
		"a change":     {create(configMaps), "it changed something"},
		"a dry run":    {create(namespaces + "/attack/secrets?dryRun=All"), ""},
		"a secret":     {bad{user: admin, method: "GET", path: secret, code: 200}, "the secret was told"},
		"two answers": {bad{raw: strings.Repeat("GET /version HTTP/1.1\nHost: localhost\n\n", 2), code: 200},
			"[200 200] instead of 200"},
	} {
		got := ""
		if err := a.reject(t.Context(), []bad{c.row}); err != nil {
			got = err.Error()
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q instead of %q", what, got, c.want)
		}
	}
}
