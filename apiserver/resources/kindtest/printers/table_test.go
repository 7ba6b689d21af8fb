package printers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

func TestForUnknownKind(t *testing.T) {
	if _, ok := tables[schema.GroupKind{Group: "stable.example.com", Kind: "CronTab"}]; ok {
		t.Error("a custom kind has a table")
	}
}

func TestDefaultTableHasNameAndTime(t *testing.T) {
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
		if diff := cmp.Diff(test.want, resources.TableOf(schema.GroupKind{}).Cells(test.obj, now)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
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
	tables[schema.GroupKind{Kind: "Pod"}].Cells(&corev1.Secret{}, now)
}
