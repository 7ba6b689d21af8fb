package resources_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

// rangeAllocations returns the entry of RangeAllocation, which Kubernetes stores but doesn't serve. This function and
// those below it are an example of the file of a new kind.
func rangeAllocations() *entry.Resource {
	return &entry.Resource{
		Plural: "rangeallocations", New: entry.New[corev1.RangeAllocation], Namespaced: true,
		ShortNames: []string{"ra"},
		Strategy: entry.Strategy{
			Default:  entry.Default(defaultRangeAllocation),
			Prepare:  entry.Prepare(createRangeAllocation, nil),
			Validate: entry.ValidateEither(validateRangeAllocation, validateRangeAllocationUpdate),
			Warnings: entry.Warn(rangeAllocationWarnings),
		},
		Selection: entry.Selection{Selectable: []entry.Field{{Label: "range"}}},
		Table:     entry.TableOf(rangeAllocationColumns(), rangeAllocationCells),
	}
}

func defaultRangeAllocation(r *corev1.RangeAllocation) { check.FillDefault(&r.Range, "10.0.0.0/24") }

func createRangeAllocation(r *corev1.RangeAllocation) { r.Data = []byte{} }

func validateRangeAllocation(r *corev1.RangeAllocation) field.ErrorList {
	return check.CIDR(r.Range, field.NewPath("range"), nil)
}

func validateRangeAllocationUpdate(r, old *corev1.RangeAllocation) field.ErrorList {
	return check.Immutable(r.Range, old.Range, field.NewPath("range"))
}

func rangeAllocationWarnings(r, old *corev1.RangeAllocation) []string {
	if old == nil && strings.HasPrefix(r.Range, "192.168.") {
		return []string{"range: is a private one"}
	}
	return nil
}

func rangeAllocationColumns() []entry.Column {
	return []entry.Column{entry.NameColumn, entry.Text("Range", "What is allocated from."), entry.AgeColumn}
}

func rangeAllocationCells(r *corev1.RangeAllocation, now time.Time) []any {
	return []any{r.Name, r.Range, entry.AgeOf(&r.ObjectMeta, now)}
}

// TestNewKindIsServed: a new kind needs only one file, and one line in the list of a group.
func TestNewKindIsServed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Kinds: entry.Group(corev1.SchemeGroupVersion,
		rangeAllocations(),
	)})
	const path = "/api/v1/namespaces/default/rangeallocations"

	a := s.Do("POST", path, `{"metadata":{"name":"a"},"data":"AAAA"}`)
	var made corev1.RangeAllocation
	if err := json.Unmarshal(a.Body, &made); err != nil || a.Code != http.StatusCreated || made.Range != "10.0.0.0/24" ||
		len(made.Data) > 0 {
		t.Errorf("created: %d %s", a.Code, a.Body)
	}
	a = s.Do("POST", path, `{"metadata":{"name":"b"},"range":"nowhere"}`)
	if a.Code != http.StatusUnprocessableEntity ||
		!strings.Contains(string(a.Body), `RangeAllocation \"b\" is invalid: range: Invalid value: \"nowhere\"`) {
		t.Errorf("an invalid range: %d %s", a.Code, a.Body)
	}
	a = s.Do("PATCH", path+"/a", `{"range":"10.1.0.0/24"}`)
	if a.Code != http.StatusUnprocessableEntity || !strings.Contains(string(a.Body), "field is immutable") {
		t.Errorf("another range: %d %s", a.Code, a.Body)
	}
	a = s.Do("POST", path, `{"metadata":{"name":"c"},"range":"192.168.0.0/24"}`)
	if a.Code != http.StatusCreated || a.Header.Get("Warning") != `299 - "range: is a private one"` {
		t.Errorf("warned: %d %q", a.Code, a.Header.Get("Warning"))
	}
	if got := printed(t, s, path); cmp.Diff([][]any{{"a", "10.0.0.0/24"}, {"c", "192.168.0.0/24"}}, got) != "" {
		t.Errorf("printed: %v", got)
	}
	if got := printed(t, s, path+"?fieldSelector=range=10.0.0.0/24"); len(got) != 1 {
		t.Errorf("selected: %v", got)
	}
	if a := s.Do("GET", "/api/v1", nil); !strings.Contains(
		string(a.Body),
		`"name":"rangeallocations","singularName":"rangeallocation","namespaced":true,"kind":"RangeAllocation"`,
	) {
		t.Errorf("discovery: %s", a.Body)
	}
	if a := s.Do("DELETE", path+"/a", nil); a.Code != http.StatusOK {
		t.Errorf("deleted: %d %s", a.Code, a.Body)
	}
}

// printed returns the rows of a list without their ages. It requires that each row has an age.
func printed(t *testing.T, s *apiservertest.Server, path string) (rows [][]any) {
	t.Helper()
	a := s.Do("GET", path, nil, "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	var table metav1.Table
	if err := json.Unmarshal(a.Body, &table); err != nil {
		t.Fatalf("%v in %s", err, a.Body)
	}
	if len(table.ColumnDefinitions) != 3 || table.ColumnDefinitions[1].Name != "Range" {
		t.Errorf("columns: %v", table.ColumnDefinitions)
	}
	for _, row := range table.Rows {
		if len(row.Cells) != 3 || row.Cells[2] == "" {
			t.Fatalf("cells: %v", row.Cells)
		}
		rows = append(rows, row.Cells[:2])
	}
	return rows
}
