package printers

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestForUnknownKind(t *testing.T) {
	if _, ok := For(schema.GroupKind{Group: "stable.example.com", Kind: "CronTab"}); ok {
		t.Error("a custom kind has a table")
	}
}

func TestDefault(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{
		"name": "x", "creationTimestamp": "2026-03-01T11:00:00Z",
	}}}
	for name, test := range map[string]struct {
		obj  runtime.Object
		want []any
	}{
		"unstructured": {u, []any{"x", "2026-03-01T11:00:00Z"}},
		"other zone": {
			&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{
				Name:              "y",
				CreationTimestamp: metav1.NewTime(time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600))),
			}},
			[]any{"y", "2026-03-01T12:00:00Z"},
		},
		"never created": {&corev1.LimitRange{}, []any{"", "0001-01-01T00:00:00Z"}},
		"no metadata":   {&metav1.APIGroup{}, nil},
	} {
		if diff := cmp.Diff(test.want, Default().Cells(test.obj, now)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestAge(t *testing.T) {
	for _, test := range []struct {
		t    time.Time
		want string
	}{
		{time.Time{}, "<unknown>"},
		{now, "0s"},
		{now.Add(time.Second), "0s"},
		{now.Add(time.Minute), "<invalid>"},
		{now.Add(-119 * time.Second), "119s"},
		{now.Add(-2 * time.Minute), "2m"},
		{now.Add(-time.Hour), "60m"},
		{now.Add(-75 * time.Hour), "3d3h"},
	} {
		if got := Age(test.t, now); got != test.want {
			t.Errorf("Age(%v) is %s, not %s", test.t, got, test.want)
		}
	}
}

func TestCellsOfAnotherType(t *testing.T) {
	defer func() {
		r, _ := recover().(string)
		if !strings.Contains(r, "*v1.Pod") || !strings.Contains(r, "*v1.Secret") {
			t.Errorf("panicked with %q, which doesn't name both types", r)
		}
	}()
	tables[kind("", "Pod")].Cells(&corev1.Secret{}, now)
}

// aggregated stands for kube-aggregator's Go type of APIService.
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
