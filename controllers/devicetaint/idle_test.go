package devicetaint

import (
	"testing"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// without is a store without ResourceClaims. Its other methods must not be called.
type without struct{ workload.Reader }

func (without) All(r workload.Resource, namespace string) []workload.Object {
	if r != workload.ResourceClaims || namespace != "a" {
		panic("all " + r.String() + " of " + namespace + " are read")
	}
	return nil
}

// TestNoPassWithoutClaims: without claims, events of pods cause no pass, read nothing else and allocate nothing.
func TestNoPassWithoutClaims(t *testing.T) {
	first, second := New()
	pods, rules := first(), second()
	var r workload.Reader = without{}
	m := &workload.Meta{Key: workload.Key{Namespace: "a", Name: "p"}}
	passes := 0
	n := testing.AllocsPerRun(100, func() {
		c := workload.Change{Resource: workload.Pods, Old: m, New: m}
		passes += len(pods.Wake(r, c)) + len(rules.Wake(r, c))
	})
	if n != 0 || passes != 0 {
		t.Errorf("%v allocations, %d passes", n, passes)
	}
}
