package codec

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/weight"
)

// TestWorstValue: no kind that the scheme has takes more memory for a value than worstValue says, and one takes as
// much.
func TestWorstValue(t *testing.T) {
	var worst int64
	for gvk, typ := range resources.Scheme().AllKnownTypes() {
		n := weight.Of(typ).Worst()
		if n > WorstValue {
			t.Errorf("%v: %d bytes a value, worstValue is %d", gvk, n, WorstValue)
		}
		worst = max(worst, n)
	}
	if worst < WorstValue {
		t.Errorf("worstValue is %d, no kind takes more than %d", WorstValue, worst)
	}
}
