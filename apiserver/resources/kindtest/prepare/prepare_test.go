package prepare

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/apiserver/resources/kindtest"
)

var (
	born = metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now  = time.Date(2026, 6, 7, 8, 9, 10, 11, time.UTC)
)

func at() time.Time { return now }

// all are the built-in kinds.
var all = kindtest.All(at)

// server processes objects of a Kind as the server does for all kinds.
type server struct{ kindtest.Kind }

func serve(gvk schema.GroupVersionKind) server { return server{all.Of(gvk)} }

func (s server) fill(obj runtime.Object) {
	if f := s.Default; f != nil {
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

// create processes a POST. It changes obj to the stored object, and returns the warnings.
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
	if s.Update != nil {
		s.Update(obj, nil)
	}
	if s.Warnings != nil {
		texts = append(texts, s.Warnings(obj, nil)...)
	}
	return texts
}

// update processes a PUT of a subresource, or of the object itself if sub is empty. It changes obj to the stored
// object, and returns the warnings.
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

// TestScenarios prints the objects in testdata after a create or an update, and the warnings for the client. A
// "defaulted" object is too long to print completely: "show=" names the fields to print.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			docs := strings.Split(d.Input, "\n---\n")
			old, gvk := objecttest.Read(t, docs[0])
			s := serve(gvk)
			obj := old
			var texts []string
			switch d.Cmd {
			case "create":
				texts = s.create(obj)
			case "update":
				obj, _ = objecttest.Read(t, docs[len(docs)-1])
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
			b.WriteString(path + ":\n" + indent(objecttest.Write(t, find(t, obj, path))))
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

// prepared returns the kinds that have any hook.
func prepared() (list []kindtest.Kind) {
	for _, k := range all {
		if !k.Empty() {
			list = append(list, k)
		}
	}
	return list
}

// TestGuaranteesHoldForAnyObject tests the guarantees that do not depend on the content of an object.
func TestGuaranteesHoldForAnyObject(t *testing.T) {
	const seeds = 40
	for _, k := range prepared() {
		gvk, s := k.GVK, server{k}
		t.Run(gvk.Kind, func(t *testing.T) {
			for seed := range int64(seeds) {
				obj := random(t, gvk, seed)
				s.create(obj)
				stored := obj.DeepCopyObject()
				s.fill(stored)
				if diff := cmp.Diff(objecttest.JSON(t, obj), objecttest.JSON(t, stored)); diff != "" {
					t.Fatalf("seed %d: defaulting changes the result of Create (-created +defaulted):\n%s", seed, diff)
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
	old, obj := random(t, s.GVK, seed), random(t, s.GVK, seed+1)
	s.fill(old)
	s.fill(obj)
	before := objecttest.JSON(t, old)
	again := obj.DeepCopyObject()
	texts := s.update(sub, obj, old)
	if diff := cmp.Diff(before, objecttest.JSON(t, old)); diff != "" {
		t.Fatalf("seed %d, subresource %q: the old object was changed:\n%s", seed, sub, diff)
	}
	if diff := cmp.Diff(texts, s.update(sub, again, old)); diff != "" {
		t.Fatalf("seed %d, subresource %q: warnings vary:\n%s", seed, sub, diff)
	}
	if diff := cmp.Diff(objecttest.JSON(t, obj), objecttest.JSON(t, again)); diff != "" {
		t.Fatalf("seed %d, subresource %q: results vary:\n%s", seed, sub, diff)
	}
}

func random(t *testing.T, gvk schema.GroupVersionKind, seed int64) runtime.Object {
	obj := objecttest.New(t, gvk)
	objecttest.Fill(seed, obj)
	return obj
}

// TestHooksIgnoreObjectsOfOtherKinds: a hook of one kind does not change objects of another kind.
func TestHooksIgnoreObjectsOfOtherKinds(t *testing.T) {
	other, _ := objecttest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")
	want := other.DeepCopyObject()
	for _, k := range prepared() {
		for _, f := range append([]func(_, _ runtime.Object){k.Update, k.Status}, values(k.Parts)...) {
			if f != nil {
				f(other, other)
				f(other, nil)
				f(nil, nil)
			}
		}
		for _, f := range []func(_, _ runtime.Object) []string{k.Warnings, k.StatusWarnings} {
			if f != nil && (f(other, nil) != nil || f(nil, other) != nil) {
				t.Errorf("%v warns of a config map", k.GVK)
			}
		}
		if k.Early != nil && k.Early(other) != nil {
			t.Errorf("%v warns of a config map", k.GVK)
		}
		if diff := cmp.Diff(want, other); diff != "" {
			t.Errorf("%v changed a config map:\n%s", k.GVK, diff)
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

// TestWithoutHooks: a kind without hooks is prepared without an error.
func TestWithoutHooks(t *testing.T) {
	if got := all.Of(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}); got.Table.Cells == nil || !got.Empty() {
		t.Error("config maps are prepared")
	}
}
