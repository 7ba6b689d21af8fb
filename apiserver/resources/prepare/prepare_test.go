package prepare

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources/defaults"
	"github.com/kubecascade/kubecascade/apiserver/resources/defaults/defaultstest"
)

var (
	born = metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now  = time.Date(2026, 6, 7, 8, 9, 10, 11, time.UTC)
)

func at() time.Time { return now }

// server does what is done for all kinds alike, around a Kind.
type server struct {
	Kind
	gvk schema.GroupVersionKind
}

func serve(gvk schema.GroupVersionKind) server { return server{Table(at)[gvk.GroupKind()], gvk} }

func (s server) fill(obj runtime.Object) {
	if f := defaults.For(s.gvk); f != nil {
		f(obj)
	}
}

func part(obj runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName(name)
}

func keep(obj, old runtime.Object, name string) {
	if f := part(obj, name); f.IsValid() {
		f.Set(part(old, name))
	}
}

// create returns the warnings of a POST and leaves in obj what is stored.
func (s server) create(obj runtime.Object) []string {
	s.fill(obj)
	meta := obj.(metav1.Object)
	meta.SetUID("1-2-3")
	meta.SetCreationTimestamp(born)
	if f := part(obj, "Status"); f.IsValid() && !s.OwnStatus {
		f.SetZero()
	}
	var texts []string
	if s.Early != nil {
		texts = s.Early(obj)
	}
	if s.Create != nil {
		s.Create(obj)
	}
	if s.Warnings != nil {
		texts = append(texts, s.Warnings(obj, nil)...)
	}
	return texts
}

// update returns the warnings of a PUT to a subresource, "" for the object itself, and leaves in
// obj what is stored.
func (s server) update(sub string, obj, old runtime.Object) []string {
	change, warn := s.Update, s.Warnings
	switch {
	case sub == "status":
		change, warn = s.Status, s.StatusWarnings
		keep(obj, old, "Spec")
	case sub != "":
		change, warn = s.Parts[sub], nil
	case !s.OwnStatus:
		keep(obj, old, "Status")
	}
	if change != nil {
		change(obj, old)
	}
	spec := part(obj, "Spec")
	if spec.IsValid() && !apiequality.Semantic.DeepEqual(spec.Interface(), part(old, "Spec").Interface()) {
		obj.(metav1.Object).SetGeneration(old.(metav1.Object).GetGeneration() + 1)
	}
	if warn == nil {
		return nil
	}
	return warn(obj, old)
}

// TestScenarios shows in testdata what becomes of objects that are created and changed, and what
// their clients are warned of. A "defaulted" object is too long to show whole: "show=" names the
// parts to print.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			docs := strings.Split(d.Input, "\n---\n")
			old, gvk := defaultstest.Read(t, docs[0])
			s := serve(gvk)
			obj := old
			var texts []string
			switch d.Cmd {
			case "create":
				texts = s.create(obj)
			case "update":
				obj, _ = defaultstest.Read(t, docs[len(docs)-1])
				s.fill(old)
				s.fill(obj)
				var sub string
				d.MaybeScanArgs(t, "sub", &sub)
				texts = s.update(sub, obj, old)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return render(t, d, obj, texts)
		})
	})
}

func render(t *testing.T, d *datadriven.TestData, obj runtime.Object, texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	for _, arg := range d.CmdArgs {
		if arg.Key != "show" {
			continue
		}
		for _, path := range arg.Vals {
			b.WriteString(path + ":\n" + indent(defaultstest.Write(t, find(t, obj, path))))
		}
	}
	return b.String()
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// find follows a path of JSON names and list indices.
func find(t *testing.T, obj runtime.Object, path string) any {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	var v any = m
	for _, name := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(in) {
				t.Fatalf("no %s in %s", name, path)
			}
			v = in[i]
		default:
			t.Fatalf("no %s in %s", name, path)
		}
	}
	return v
}

func kinds() []schema.GroupVersionKind {
	var list []schema.GroupVersionKind
	for gk := range Table(at) {
		list = append(list, gk.WithVersion("v1"))
	}
	slices.SortFunc(list, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// TestAnyObject holds the guarantees that don't depend on what an object says.
func TestAnyObject(t *testing.T) {
	const seeds = 40
	for _, gvk := range kinds() {
		t.Run(gvk.Kind, func(t *testing.T) {
			s := serve(gvk)
			for seed := range int64(seeds) {
				obj := random(t, gvk, seed)
				s.create(obj)
				stored := obj.DeepCopyObject()
				s.fill(stored)
				if diff := cmp.Diff(defaultstest.JSON(t, obj), defaultstest.JSON(t, stored)); diff != "" {
					t.Fatalf("seed %d: what Create leaves needs defaulting (-left +defaulted):\n%s", seed, diff)
				}
				subs := []string{"", "status"}
				for sub := range s.Parts {
					subs = append(subs, sub)
				}
				for _, sub := range subs {
					s.changeAny(t, sub, seed)
				}
			}
		})
	}
}

func (s server) changeAny(t *testing.T, sub string, seed int64) {
	t.Helper()
	old, obj := random(t, s.gvk, seed), random(t, s.gvk, seed+1)
	s.fill(old)
	s.fill(obj)
	before := defaultstest.JSON(t, old)
	again := obj.DeepCopyObject()
	texts := s.update(sub, obj, old)
	if diff := cmp.Diff(before, defaultstest.JSON(t, old)); diff != "" {
		t.Fatalf("seed %d, subresource %q: the old object was changed:\n%s", seed, sub, diff)
	}
	if diff := cmp.Diff(texts, s.update(sub, again, old)); diff != "" {
		t.Fatalf("seed %d, subresource %q: warnings vary:\n%s", seed, sub, diff)
	}
	if diff := cmp.Diff(defaultstest.JSON(t, obj), defaultstest.JSON(t, again)); diff != "" {
		t.Fatalf("seed %d, subresource %q: results vary:\n%s", seed, sub, diff)
	}
}

func random(t *testing.T, gvk schema.GroupVersionKind, seed int64) runtime.Object {
	obj := defaultstest.New(t, gvk)
	defaultstest.Fill(seed, obj)
	return obj
}

// TestOtherObjects: a func of one kind leaves objects of another alone.
func TestOtherObjects(t *testing.T) {
	other, _ := defaultstest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")
	want := other.DeepCopyObject()
	for gk, k := range Table(at) {
		for _, f := range append([]func(_, _ runtime.Object){k.Update, k.Status}, values(k.Parts)...) {
			if f != nil {
				f(other, other)
				f(nil, nil)
			}
		}
		if k.Create != nil {
			k.Create(other)
			k.Create(nil)
		}
		for _, f := range []func(_, _ runtime.Object) []string{k.Warnings, k.StatusWarnings} {
			if f != nil && (f(other, nil) != nil || f(nil, other) != nil) {
				t.Errorf("%v warns of a config map", gk)
			}
		}
		if k.Early != nil && k.Early(other) != nil {
			t.Errorf("%v warns of a config map", gk)
		}
		if diff := cmp.Diff(want, other); diff != "" {
			t.Errorf("%v changed a config map:\n%s", gk, diff)
		}
	}
}

func values[K comparable, V any](m map[K]V) []V {
	var list []V
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

// TestFor: kinds on the system's clock are those of the table.
func TestFor(t *testing.T) {
	for gk, k := range Table(at) {
		if got := For(gk); (got.Create == nil) != (k.Create == nil) || len(got.Parts) != len(k.Parts) {
			t.Errorf("For(%v) is not the table's", gk)
		}
	}
	if got := For(schema.GroupKind{Kind: "ConfigMap"}); got.Create != nil || got.Update != nil {
		t.Error("config maps differ in something")
	}
}
