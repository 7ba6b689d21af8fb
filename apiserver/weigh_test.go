package apiserver

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/weight"
)

// TestWorstValue: no kind that the scheme has takes more memory for a value than worstValue says, and one takes as much.
func TestWorstValue(t *testing.T) {
	var worst int64
	for gvk, typ := range resources.Scheme().AllKnownTypes() {
		n := weight.Of(typ).Worst()
		if n > worstValue {
			t.Errorf("%v: %d bytes a value, worstValue is %d", gvk, n, worstValue)
		}
		worst = max(worst, n)
	}
	if worst < worstValue {
		t.Errorf("worstValue is %d, no kind takes more than %d", worstValue, worst)
	}
}
