package audit

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// write writes a file into a new directory.
func write(t *testing.T, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const all = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"

// TestLogIsRotated: the file is rotated when it is too large. A rotated file has a time in its name. The number of
// rotated files is limited (N-05, N-S07).
func TestLogIsRotated(t *testing.T) {
	o := Defaults()
	o.PolicyFile, o.Path, o.MaxSize, o.MaxBackups = write(t, all), filepath.Join(t.TempDir(), "new", "audit.log"), 1, 2
	l, err := Open(o, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 10
	r, err := http.NewRequest(http.MethodGet, "/"+strings.Repeat("x", size), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := authorization.Attributes{User: authorization.Anonymous, Verb: "get", Path: r.URL.Path}
	for i := range 1500 { // 1.5 megabytes and more
		rec := l.Begin(r, fmt.Sprint("id-", i), &a, time.Now())
		if rec.Received() != nil {
			t.Fatal("not recorded")
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	rotated, err := filepath.Glob(filepath.Join(filepath.Dir(o.Path), "audit-20*.log"))
	if err != nil || len(rotated) != 1 {
		t.Fatalf("%v, %v", rotated, err)
	}
	events := 0
	for _, path := range append(rotated, o.Path) {
		data, err := os.ReadFile(path)
		if err != nil || len(data) > 1<<20 {
			t.Errorf("%s has %d bytes, %v", path, len(data), err)
		}
		events += strings.Count(string(data), "\n")
		if s, err := os.Stat(path); err != nil || s.Mode() != 0o600 {
			t.Errorf("%v, %v", s.Mode(), err)
		}
	}
	if events != 1500 {
		t.Errorf("there are %d events", events)
	}
	if s, err := os.Stat(filepath.Dir(o.Path)); err != nil || s.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", s.Mode(), err)
	}
}

// TestNothingToRecord: without a policy, the file is created and nothing is recorded. Without a log, the policy is
// still read (N-01).
func TestNothingToRecord(t *testing.T) {
	o := Defaults()
	o.Path = filepath.Join(t.TempDir(), "audit.log")
	if l, err := Open(o, slog.Default()); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
	if _, err := os.Stat(o.Path); err != nil {
		t.Error(err)
	}
	o.Path, o.PolicyFile = "", write(t, all)
	if l, err := Open(o, slog.Default()); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
	o.PolicyFile = write(t, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []\n")
	if _, err := Open(o, slog.Default()); err == nil || !strings.HasPrefix(
		err.Error(), "loading audit policy file: loaded illegal policy with 0 rules: from file ") {
		t.Error(err)
	}
	var none *Log
	var nothing *Record
	if none.Begin(nil, "", nil, time.Time{}) != nil || none.Close() != nil || nothing.Requests() || nothing.Responses() {
		t.Error("nothing is recorded")
	}
	if n := testing.AllocsPerRun(100, func() {
		nothing.Annotate("a", "b")
		nothing.Started(http.StatusOK)
		nothing.Patch(nil)
		nothing.Response(nil)
	}); n != 0 {
		t.Errorf("a request that is not recorded has %v allocations", n)
	}
}

// TestStandardOutputStaysOpen: the log - is standard output, which stays open.
func TestStandardOutputStaysOpen(t *testing.T) {
	o := Defaults()
	o.Path = "-"
	w, err := o.writer()
	if err != nil || w.(keptOpen).Writer != os.Stdout || w.Close() != nil {
		t.Fatalf("%v, %v", w, err)
	}
	if _, err := os.Stdout.Stat(); err != nil {
		t.Error(err)
	}
}

// TestInvalidOptionsOfLogAreRejected: values that kube-apiserver rejects are rejected if there is a log.
func TestInvalidOptionsOfLogAreRejected(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"": func(*Options) {},
		"--audit-log-maxage -1 can't be a negative number":    func(o *Options) { o.MaxAge = -1 },
		"--audit-log-maxbackup -1 can't be a negative number": func(o *Options) { o.MaxBackups = -1 },
		"--audit-log-maxsize -1 can't be a negative number":   func(o *Options) { o.MaxSize = -1 },
		`invalid audit log format x, allowed formats are "legacy,json"`: func(o *Options) {
			o.Format = "x"
		},
		`invalid audit log mode x, allowed modes are "batch,blocking,blocking-strict"`: func(o *Options) { o.Mode = "x" },
		"invalid audit batch log buffer size 0, must be a positive number": func(o *Options) {
			o.Mode, o.Batch.BufferSize = ModeBatch, 0
		},
		"invalid audit batch log max batch size 0, must be a positive number": func(o *Options) {
			o.Mode, o.Batch.MaxBatchSize = ModeBatch, 0
		},
		"invalid audit batch log throttle QPS 0, must be a positive number": func(o *Options) {
			o.Mode, o.Batch.ThrottleEnable = ModeBatch, true
		},
		"invalid audit batch log throttle burst 0, must be a positive number": func(o *Options) {
			o.Mode, o.Batch.ThrottleEnable, o.Batch.ThrottleQPS = ModeBatch, true, 1
		},
		"invalid audit truncate log max event size 0, must be a positive number": func(o *Options) {
			o.Limits.MaxEventSize = 0
		},
		"invalid audit truncate log max batch size 1, must be greater than max event size (102400)": func(o *Options) {
			o.Limits.MaxBatchSize = 1
		},
	} {
		o := Defaults()
		o.Path = "audit.log"
		change(&o)
		got := ""
		if err := o.Check(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
		if o.Path = ""; o.Check() != nil {
			t.Errorf("without a log %q is rejected", want)
		}
	}
}

// TestManagedFields: those of the object, of items and of rows are omitted; other fields of that name are not (N-25).
func TestManagedFields(t *testing.T) {
	const fields = `"managedFields":[{"manager":"m"}]`
	for in, want := range map[string]string{
		`{"metadata":{"name":"a",` + fields + `}}`:                        `{"metadata":{"name":"a"}}`,
		`{"items":[{"metadata":{` + fields + `}},{}],"metadata":{}}`:      `{"items":[{"metadata":{}},{}],"metadata":{}}`,
		`{"rows":[{"cells":[1],"object":{"metadata":{` + fields + `}}}]}`: `{"rows":[{"cells":[1],"object":{"metadata":{}}}]}`,
		`{"data":{"metadata":{` + fields + `}}}`:                          `{"data":{"metadata":{` + fields + `}}}`,
		`{"metadata":null,"items":7,"rows":[null],` + fields + `}`:        `{"items":7,` + fields + `,"metadata":null,"rows":[null]}`,
		`["managedFields"]`: `["managedFields"]`,
		`{"a": 1}`:          `{"a": 1}`,
	} {
		if diff := cmp.Diff(want, string(withoutManagedFields([]byte(in)))); diff != "" {
			t.Errorf("%s (-want +got): %s", in, diff)
		}
	}
}
