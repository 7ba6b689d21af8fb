package webhooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
)

// suite is a package whose specs run on the server.
type suite struct {
	pkg string
	// specs is the number of specs that pass. A release of controller-runtime may change it.
	specs int
	// pending are the specs that their authors have marked as pending. Today there are none.
	pending []string
	// alone are the specs that each run in a separate process, on a separate server.
	alone []string
}

// suites have no spec that needs a kubelet or the binaries of a control plane, so that all of them pass.
var suites = []suite{
	{pkg: "./project/internal/webhook/v1", specs: 15},
	{pkg: "sigs.k8s.io/controller-runtime/pkg/webhook", specs: 8, pending: []string{
		"Webhook Server when serving should verify the client CA name when asked to",
		"Webhook Server when serving should support HTTP/2",
	}, alone: []string{
		// The three specs of webhook_integration_test.go listen on the port of their process's test environment. Each
		// starts its server without waiting for the end of the previous spec's server, whose context is cancelled only
		// then (webhook.DefaultServer.Start). On a busy machine the result is "address already in use". So a process
		// runs at most one of them.
		"Webhook when running a webhook server with a manager should reject create request for multi-webhook that " +
			"rejects all requests",
		"Webhook when running a webhook server without a manager should reject create request for webhook that " +
			"rejects all requests",
	}},
}

// TestSuitesOfProjectsPass runs each on a new server: the test environment does not delete webhook configurations.
func TestSuitesOfProjectsPass(t *testing.T) {
	for _, s := range suites {
		t.Run(strings.TrimPrefix(s.pkg, "sigs.k8s.io/"), func(t *testing.T) {
			if len(s.alone) == 0 {
				s.run(t, nil, s.specs)
				return
			}
			t.Run("together", func(t *testing.T) {
				s.run(t, []string{"-ginkgo.skip=" + ending(s.alone)}, s.specs-len(s.alone))
			})
			for _, name := range s.alone {
				t.Run(name, func(t *testing.T) { s.run(t, []string{"-ginkgo.focus=" + ending([]string{name})}, 1) })
			}
		})
	}
}

// ending returns the expression that matches texts with one of the endings: Ginkgo puts the suite's name before a
// spec's.
func ending(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return " (" + strings.Join(quoted, "|") + ")$"
}

// run runs the selected specs, and checks their number.
func (s *suite) run(t *testing.T, selected []string, specs int) {
	file := filepath.Join(t.TempDir(), "report.json")
	args := []string{"test", "-count=1", s.pkg, "-args", "-ginkgo.json-report=" + file, "-ginkgo.no-color"}
	c := exec.Command("go", append(args, selected...)...)
	c.Env = append(os.Environ(), "USE_EXISTING_CLUSTER=true", "KUBECONFIG="+startServer(t))
	out, err := c.CombinedOutput()
	report := read(t, file, out)
	if err != nil || !report.SuiteSucceeded {
		t.Errorf("%v %q", err, report.SpecialSuiteFailureReasons)
	}
	passed := 0
	var pending []string
	for _, spec := range report.SpecReports {
		name := strings.TrimSpace(spec.LeafNodeType.String() + " " + spec.FullText())
		switch {
		case spec.State == types.SpecStatePassed && spec.LeafNodeType == types.NodeTypeIt:
			passed++
		case spec.State == types.SpecStatePassed:
		case spec.State == types.SpecStatePending:
			pending = append(pending, spec.FullText())
		case spec.State == types.SpecStateSkipped && len(selected) > 0: // runs elsewhere: the others are counted
		default: // skipped by itself, too
			t.Errorf("%s %s: %s", name, spec.State, spec.FailureMessage())
		}
	}
	slices.Sort(pending)
	if want := slices.Sorted(slices.Values(s.pending)); !slices.Equal(pending, want) {
		t.Errorf("pending are %q, want %q", pending, want)
	}
	if passed != specs {
		t.Errorf("%d specs passed, want %d", passed, specs)
	}
	t.Logf("%d specs passed, %d pending, in %s", passed, len(pending), report.RunTime.Round(1e6))
}

// read reads the report of a suite. out is the output of the suite.
func read(t *testing.T, file string, out []byte) types.Report {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var reports []types.Report
	if err := json.Unmarshal(data, &reports); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 1 {
		t.Fatalf("%d reports", len(reports))
	}
	return reports[0]
}
