package kubecascadetest

import (
	"testing"

	"github.com/kubecascade/kubecascade"
)

// AddFaults adds a plan in YAML or JSON to the faults that the server injects (docs/faults.md). The plan is removed at
// the end of the test, or earlier by remove. An invalid plan fails the test.
func AddFaults(t testing.TB, s *kubecascade.Server, plan string) (remove func()) {
	t.Helper()
	p, err := kubecascade.ParseFaults([]byte(plan))
	if err == nil {
		_, remove, err = s.Faults().Add(p)
	}
	if err != nil {
		t.Fatalf("the plan of faults: %v", err)
	}
	t.Cleanup(remove)
	return remove
}
