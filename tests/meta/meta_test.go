package meta

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/conformance/model"
	"github.com/kubecascade/kubecascade/tests/process"
)

var (
	seed  = flag.Uint64("seed", 0, "the one seed to run, if not 0")
	from  = flag.Uint64("from", 1, "the first of the seeds")
	seeds = flag.Uint64("seeds", 3, "how many seeds to run, of each way")
	count = flag.Int("ops", 400, "operations of each seed")
	url   = flag.String("url", "", "server to run against, instead of ours")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(process.Run(m, nil))
}

// start returns the URL of a server, and a client that keeps enough connections.
func start(t *testing.T) (string, *http.Client) {
	t.Helper()
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(tr.CloseIdleConnections)
	if *url != "" {
		return *url, &http.Client{Transport: tr}
	}
	s := process.Start(t, "--controllers=garbage-collector-controller,namespace-controller")
	return s.URL, &http.Client{Transport: tr}
}

// walk runs the seeds.
func walk(t *testing.T, c config) {
	first, last := *from, *from+*seeds-1
	if *seed != 0 {
		first, last = *seed, *seed
	}
	for n := first; n <= last; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			c := c
			c.url, c.client = start(t)
			c.prefix = fmt.Sprintf("s%d-%d-", time.Now().Unix(), n)
			check(t, c, n)
		})
	}
}

// check runs a seed. If it fails, the output has the command that repeats it.
func check(t *testing.T, c config, n uint64) {
	ops := model.Generate(n, *count, model.Options{})
	began := time.Now()
	err := run(t.Context(), c, ops)
	if err == nil {
		t.Logf("%d operations in %v", *count, time.Since(began).Round(time.Millisecond))
		return
	}
	t.Errorf("make soak SUITE=meta SEED=%d OPS=%d: %v", n, *count, err)
	var f *failure
	if errors.As(err, &f) {
		short, again := reduce(t.Context(), c, ops[:f.sent])
		t.Fatalf("reduced to %d operations:\n%s\n%v", len(short), lines(short), again)
	}
}

func lines(ops []model.Op) string {
	var b strings.Builder
	for _, o := range ops {
		fmt.Fprintln(&b, o)
	}
	return b.String()
}

// TestSettledClusterEqualsModel waits for the end of each operation's cascade.
func TestSettledClusterEqualsModel(t *testing.T) { walk(t, config{}) }

// TestInterleaved does not wait for cascades.
func TestInterleaved(t *testing.T) { walk(t, config{size: 6, clients: 3}) }

// TestFixedBugsStayFixed repeats operations that have shown bugs.
func TestFixedBugsStayFixed(t *testing.T) {
	pod := model.Key{Kind: "Pod", Namespace: "a", Name: "p"}
	one, two := model.Key{
		Kind: "ConfigMap", Namespace: "a", Name: "one",
	}, model.Key{Kind: "ConfigMap", Namespace: "a", Name: "two"}
	for name, ops := range map[string][]model.Op{
		"a pod that names its own place with another uid is removed": {
			{ID: 1, Verb: model.Create, Key: pod},
			{
				ID: 2, Verb: model.Merge, Key: pod, Set: model.SetOwners,
				Owners: []model.Owner{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "x"}},
			},
		},
		"references of one uid come together when another is dropped": {
			{ID: 1, Verb: model.Create, Key: one},
			{ID: 2, Verb: model.Create, Key: two},
			{ID: 3, Verb: model.Create, Key: pod, Owners: []model.Owner{
				{APIVersion: "v1", Kind: "ConfigMap", Name: "one", UID: "u1", Block: model.False},
				{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "none"},
				{APIVersion: "v1", Kind: "ConfigMap", Name: "two", UID: "u2"},
				{APIVersion: "v1", Kind: "ConfigMap", Name: "one", UID: "u1"}}},
		},
		"those of a custom resource stay in their order": {
			{ID: 1, Verb: model.Create, Key: one},
			{ID: 2, Verb: model.Create, Key: two},
			{ID: 3, Verb: model.Create, Key: model.Key{Kind: "Widget", Namespace: "a", Name: "w"}, Owners: []model.Owner{
				{APIVersion: "v1", Kind: "ConfigMap", Name: "one", UID: "u1", Block: model.False},
				{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "none"},
				{APIVersion: "v1", Kind: "ConfigMap", Name: "two", UID: "u2"},
				{APIVersion: "v1", Kind: "ConfigMap", Name: "one", UID: "u1"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config{prefix: fmt.Sprintf("found%d-", time.Now().UnixNano())}
			c.url, c.client = start(t)
			if err := run(t.Context(), c, ops); err != nil {
				t.Error(err)
			}
		})
	}
}
