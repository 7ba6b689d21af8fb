package resources

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// now is the time of every row.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// aggregated represents kube-aggregator's Go type of APIService.
type aggregated struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Service *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"service"`
	} `json:"spec"`
}

func (a *aggregated) DeepCopyObject() runtime.Object { panic("not copied") }

func TestTypedAPIService(t *testing.T) {
	a := &aggregated{}
	err := json.Unmarshal([]byte(`{"metadata":{"name":"v1.x","creationTimestamp":"2026-03-01T11:59:00Z"},
		"spec":{"service":{"namespace":"n","name":"s"}}}`), a)
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"v1.x", "n/s", "Unknown", "60s"}
	if diff := cmp.Diff(want, apiServiceCells(a, now)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a.Spec.Service = nil
	if got := apiServiceCells(a, now)[1]; got != "Local" {
		t.Errorf("without a service: %v", got)
	}
}
