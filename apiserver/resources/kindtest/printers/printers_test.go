package printers

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/resources/kindtest"
)

// now is the time of every row in testdata/cells.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var decoder = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(apiregistrationv1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}()

// decode reads YAML into the Go type of its kind.
func decode(t *testing.T, in string) (runtime.Object, schema.GroupKind) {
	t.Helper()
	// Without the separator, a document that begins with a brace would be read as JSON.
	data, err := yaml.ToJSON([]byte("---\n" + in))
	if err != nil {
		t.Fatalf("%v in\n%s", err, in)
	}
	obj, gvk, err := decoder.Decode(data, nil, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, in)
	}
	return obj, gvk.GroupKind()
}

// tables has the tables of all kinds, for the version for which the hooks are written, and the table of Scale.
var tables = func() map[schema.GroupKind]resources.Table {
	scale := schema.GroupKind{Group: "autoscaling", Kind: "Scale"}
	all := map[schema.GroupKind]resources.Table{scale: resources.TableOf(scale)}
	for _, k := range kindtest.All(time.Now) {
		if k.Stored {
			all[k.GVK.GroupKind()] = k.Table
		}
	}
	return all
}()

func tableOf(t *testing.T, gk schema.GroupKind) resources.Table {
	t.Helper()
	table, ok := tables[gk]
	if !ok {
		t.Fatalf("no table for %v", gk)
	}
	return table
}

// row checks the rules for every row, and returns the cells of an object as JSON: those of the named columns, or all.
func row(t *testing.T, in string, columns []string) string {
	t.Helper()
	obj, gk := decode(t, in)
	table := tableOf(t, gk)
	cells := table.Cells(obj, now)
	want := len(table.Columns)
	if gk.Kind == "IPAddress" {
		want++ // see doc.go of package entry
	}
	if len(cells) != want {
		t.Errorf("%v has %d cells for %d columns", gk, len(cells), len(table.Columns))
	}
	for i, c := range cells {
		switch c.(type) {
		case string, int64, bool:
		default:
			t.Errorf("%v: cell %d is a %T", gk, i, c)
		}
	}
	if columns == nil {
		return encode(t, cells)
	}
	var picked []any
	for _, name := range columns {
		for i, c := range table.Columns {
			if strings.ReplaceAll(c.Name, " ", "") == name {
				picked = append(picked, cells[i])
			}
		}
	}
	if len(picked) != len(columns) {
		t.Fatalf("%v lacks some of the columns %v", gk, columns)
	}
	return encode(t, picked)
}

func encode(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCells reads objects and prints their rows at 2026-03-01T12:00:00Z. The directives:
//
//	row [columns=(A,B)]  the cells, of all columns or of those named (without spaces)
//	conditions           the conditions of the row
//	compare              how the rows of several objects compare, each with each
//	default              the name of the object that a list shows as the default
func TestCells(t *testing.T) {
	datadriven.Walk(t, "testdata/cells", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "row":
				var columns []string
				if arg, ok := d.Arg("columns"); ok {
					columns = arg.Vals
				}
				return row(t, d.Input, columns)
			case "conditions":
				obj, gk := decode(t, d.Input)
				return encode(t, tableOf(t, gk).Conditions(obj))
			case "compare":
				return compare(t, strings.Split(d.Input, "\n---\n"))
			case "default":
				return defaultOf(t, strings.Split(d.Input, "\n---\n"))
			}
			t.Fatalf("unknown directive %s", d.Cmd)
			return ""
		})
	})
}

func compare(t *testing.T, docs []string) string {
	t.Helper()
	var out strings.Builder
	for _, x := range docs {
		for _, y := range docs {
			a, gk := decode(t, x)
			b, _ := decode(t, y)
			table := tableOf(t, gk)
			fmt.Fprintf(&out, "%v %+d %v\n", table.Cells(a, now)[0], table.Compare(a, b), table.Cells(b, now)[0])
		}
	}
	return out.String()
}

func defaultOf(t *testing.T, docs []string) string {
	t.Helper()
	var all []runtime.Object
	var gk schema.GroupKind
	for _, doc := range docs {
		obj, kind := decode(t, doc)
		all, gk = append(all, obj), kind
	}
	table := tableOf(t, gk)
	i := table.Default(all)
	if i < 0 {
		return "none"
	}
	return fmt.Sprint(table.Cells(all[i], now)[0])
}

// TestColumnsEqualRecordedOnes compares the columns with those of a real server. testdata/columns.txt is recorded, and
// no test writes it. It does not have Scale, which is not a resource.
func TestColumnsEqualRecordedOnes(t *testing.T) {
	data, err := os.ReadFile("testdata/columns.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(string(data)) {
		if name, _, ok := strings.Cut(line, " | "); ok && line[0] != '#' {
			want[name] = append(want[name], line)
		}
	}
	for gk, table := range tables {
		name := gk.Group + "/" + gk.Kind
		for _, c := range table.Columns {
			got[name] = append(got[name], fmt.Sprintf("%s | %s | %s | %s | %d\n", name, c.Name, c.Type, c.Format, c.Priority))
		}
	}
	want["autoscaling/Scale"] = []string{
		"autoscaling/Scale | Name | string |  | 0\n",
		"autoscaling/Scale | Desired | integer |  | 0\n",
		"autoscaling/Scale | Available | integer |  | 0\n",
		"autoscaling/Scale | Age | string |  | 0\n",
	}
	const crd = "apiextensions.k8s.io/CustomResourceDefinition"
	want[crd] = []string{ // V-103, V-116
		crd + " | Name | string | name | 0\n",
		crd + " | Scope | string |  | 0\n",
		crd + " | Versions | string |  | 0\n",
		crd + " | Created At | date |  | 0\n",
		crd + " | Group | string |  | 1\n",
		crd + " | Kind | string |  | 1\n",
		crd + " | ShortNames | string |  | 1\n",
		crd + " | Established | boolean |  | 1\n",
	}
	for name, columns := range map[string][]string{ // V-002 to V-005
		"certificates.k8s.io/ClusterTrustBundle": {"Name | string | name", "SignerName | string | "},
		"certificates.k8s.io/PodCertificateRequest": {
			"Name | string | name", "PodName | string | ", "ServiceAccountName | string | ", "NodeName | string | ",
			"SignerName | string | ", "State | string | ",
		},
		"resource.k8s.io/DeviceTaintRule":                 {"Name | string | name", "Age | string | "},
		"storagemigration.k8s.io/StorageVersionMigration": {"Name | string | ", "Resource | string | "},
	} {
		for _, c := range columns {
			want[name] = append(want[name], name+" | "+c+" | 0\n")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-recorded +ours):\n%s", diff)
	}
}

// TestDescriptions: every column has a description in the documentation of the API types. A look-up in SwaggerDoc does
// not fail for a missing field.
func TestDescriptions(t *testing.T) {
	for gk, table := range tables {
		for _, c := range table.Columns {
			undocumented := gk.Kind == "RuntimeClass" && c.Name == "Handler"
			if (c.Description == "") != undocumented {
				t.Errorf("%v: column %s is described as %q", gk, c.Name, c.Description)
			}
		}
	}
}

// TestTablesEqualRecordedOnes compares whole tables, including descriptions, with those of a v1.36.3 server.
func TestTablesEqualRecordedOnes(t *testing.T) {
	data, err := os.ReadFile("testdata/recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []struct {
		Object            json.RawMessage
		ColumnDefinitions []resources.Column
		Cells             json.RawMessage
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	for _, r := range recorded {
		obj, gk := decode(t, string(r.Object))
		t.Run(gk.Kind, func(t *testing.T) {
			table := tableOf(t, gk)
			if diff := cmp.Diff(r.ColumnDefinitions, table.Columns); diff != "" {
				t.Errorf("columns (-recorded +ours):\n%s", diff)
			}
			var want, got []any
			cells := strings.ReplaceAll(encode(t, table.Cells(obj, now)), "<unknown>", "AGE")
			if err := json.Unmarshal([]byte(cells), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(r.Cells, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("cells (-recorded +ours):\n%s", diff)
			}
		})
	}
	if len(recorded) != 4 {
		t.Errorf("%d tables are recorded, not 4", len(recorded))
	}
}
