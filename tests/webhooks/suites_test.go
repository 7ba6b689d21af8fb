package webhooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
)

// suite is a package whose specs run on the server.
type suite struct {
	pkg string
	// specs is how many pass; a release of controller-runtime may change it.
	specs int
	// pending are the specs that their authors have marked so: those of today are empty.
	pending []string
}

// runtime is where controller-runtime has its packages.
const runtime = "sigs.k8s.io/controller-runtime/pkg/"

// suites have no spec that needs a kubelet or the binaries of a control plane, so that all of them pass.
var suites = []suite{
	{pkg: "./project/internal/webhook/v1", specs: 15},
	{pkg: runtime + "webhook", specs: 8, pending: []string{
		"Webhook Server when serving should verify the client CA name when asked to",
		"Webhook Server when serving should support HTTP/2",
	}},
	{pkg: runtime + "webhook/admission", specs: 66, pending: []string{
		"customValidatingHandler should return 400 in response when create fails on decode",
		"customValidatingHandler should return 400 in response when update fails on decoding new object",
		"customValidatingHandler should return 400 in response when update fails on decoding old object",
		"customValidatingHandler should return 400 in response when delete fails on decode",
	}},
	{pkg: runtime + "webhook/authentication", specs: 21},
	{pkg: runtime + "webhook/conversion", specs: 24},
	{pkg: runtime + "builder", specs: 72},
	{pkg: runtime + "envtest", specs: 28},
}

// TestSuites runs each suite on a server of its own: the test environment leaves its webhook configurations behind.
func TestSuites(t *testing.T) {
	for _, s := range suites {
		t.Run(strings.TrimPrefix(s.pkg, "sigs.k8s.io/"), s.run)
	}
}

func (s *suite) run(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	c := exec.Command("go", "test", "-count=1", s.pkg, "-args", "-ginkgo.json-report="+file, "-ginkgo.no-color")
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
		default: // skipped, too
			t.Errorf("%s %s: %s", name, spec.State, spec.FailureMessage())
		}
	}
	slices.Sort(pending)
	if want := slices.Sorted(slices.Values(s.pending)); !slices.Equal(pending, want) {
		t.Errorf("pending are %q, want %q", pending, want)
	}
	if passed != s.specs {
		t.Errorf("%d specs passed, want %d", passed, s.specs)
	}
	t.Logf("%d specs passed, %d pending, in %s", passed, len(pending), report.RunTime.Round(1e6))
}

// read reads the report of a suite; out is what the suite printed.
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
