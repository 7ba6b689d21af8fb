package envtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
)

// suite is a package of controller-runtime.
type suite struct {
	name string
	// specs is the number of specs that pass. A release of controller-runtime may change it.
	specs int
	// others is the number of specs that controller-runtime itself marks as pending or skipped.
	others int
}

var suites = []suite{
	{"envtest", 28, 0}, {"client", 311, 22}, {"cache", 276, 0}, {"manager", 107, 0}, {"webhook", 8, 2}, {"builder", 72, 0},
	{"controller", 32, 0}, {"source", 19, 1}, {"cluster", 15, 0},
}

// TestSuitesOfControllerRuntimePass runs each suite as its authors do.
func TestSuitesOfControllerRuntimePass(t *testing.T) {
	for _, s := range suites {
		t.Run(s.name, s.run)
	}
}

func (s *suite) run(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	out, err := exec.Command("go", "test", "-count=1", "sigs.k8s.io/controller-runtime/pkg/"+s.name,
		"-args", "-ginkgo.json-report="+file, "-ginkgo.no-color").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var reports []types.Report
	if err := json.Unmarshal(data, &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%d reports: %v", len(reports), err)
	}
	passed, others := 0, 0
	for _, spec := range reports[0].SpecReports {
		switch {
		case spec.LeafNodeType != types.NodeTypeIt:
		case spec.State == types.SpecStatePassed:
			passed++
		case spec.State.Is(types.SpecStatePending | types.SpecStateSkipped):
			others++
		default:
			t.Errorf("%s %s: %s", spec.FullText(), spec.State, spec.FailureMessage())
		}
	}
	if passed != s.specs || others != s.others {
		t.Errorf("%d specs passed and %d are pending or skipped, want %d and %d", passed, others, s.specs, s.others)
	}
	t.Logf("%d specs passed in %s", passed, reports[0].RunTime.Round(1e6))
}
