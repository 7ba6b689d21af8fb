package validation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/resources/defaults"
	"github.com/kubecascade/kubecascade/apiserver/resources/defaults/defaultstest"
	"github.com/kubecascade/kubecascade/apiserver/resources/prepare"
)

// TestScenarios judges the objects in testdata as the server does: after defaulting and
// preparation. Of an update the first document is the old object, the second a merge patch.
func TestScenarios(t *testing.T) {
	for _, folder := range []string{"kinds", "workloads"} {
		t.Run(folder, func(t *testing.T) { scenarios(t, "testdata/"+folder) })
	}
}

func scenarios(t *testing.T, folder string) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "create" {
				return report(createErrors(t, d.Input))
			}
			old, patch, ok := strings.Cut(d.Input, "\n---\n")
			if !ok {
				d.Fatalf(t, "no second document")
			}
			return report(changeErrors(t, d.Cmd, old, patch))
		})
	})
}

func report(errs field.ErrorList) string {
	if len(errs) == 0 {
		return "ok\n"
	}
	var b strings.Builder
	for _, err := range errs {
		fmt.Fprintf(&b, "%s\n", strings.TrimSuffix(err.Error(), "\n"))
	}
	return b.String()
}

// created reads an object and makes it what the server would store, with the status that the text says.
func created(t *testing.T, text string) (runtime.Object, schema.GroupVersionKind) {
	obj, gvk := defaultstest.Read(t, text)
	m, err := meta.Accessor(obj)
	if err != nil {
		t.Fatal(err)
	}
	if m.GetUID() == "" {
		m.SetUID("the-uid")
	}
	if f := defaults.For(gvk); f != nil {
		f(obj)
	}
	if f := prepare.For(gvk.GroupKind()).Create; f != nil {
		f(obj)
	}
	var said map[string]any
	if err := yaml.Unmarshal([]byte(text), &said); err != nil {
		t.Fatal(err)
	}
	if status, ok := said["status"]; ok {
		return patched(t, obj, map[string]any{"status": status}), gvk
	}
	return obj, gvk
}

// patched is a copy of an object with a merge patch applied.
func patched(t *testing.T, obj runtime.Object, patch map[string]any) runtime.Object {
	var now map[string]any
	if err := json.Unmarshal([]byte(defaultstest.JSON(t, obj)), &now); err != nil {
		t.Fatal(err)
	}
	text := defaultstest.JSON(t, merge(now, patch))
	result, _ := defaultstest.Read(t, text)
	return result
}

func merge(to, patch map[string]any) map[string]any {
	for key, value := range patch {
		below, isMap := value.(map[string]any)
		switch old, wasMap := to[key].(map[string]any); {
		case value == nil:
			delete(to, key)
		case isMap && wasMap:
			to[key] = merge(old, below)
		default:
			to[key] = value
		}
	}
	return to
}

func createErrors(t *testing.T, text string) field.ErrorList {
	obj, gvk := created(t, text)
	before := obj.DeepCopyObject()
	errs := For(gvk.GroupKind()).Create(obj)
	if diff := cmp.Diff(before, obj); diff != "" {
		t.Errorf("validation changed the object:\n%s", diff)
	}
	return errs
}

func changeErrors(t *testing.T, what, old, patch string) field.ErrorList {
	was, gvk := created(t, old)
	var change map[string]any
	if err := yaml.Unmarshal([]byte(patch), &change); err != nil {
		t.Fatal(err)
	}
	kind, prepared := For(gvk.GroupKind()), prepare.For(gvk.GroupKind())
	judge, ready := kind.Parts[what], prepared.Parts[what]
	switch what {
	case "update":
		judge, ready = kind.Update, prepared.Update
	case "status":
		judge, ready = kind.Status, prepared.Status
	}
	now := patched(t, was, change)
	if f := defaults.For(gvk); f != nil {
		f(now)
	}
	if ready != nil {
		ready(now, was)
	}
	before, wasBefore := now.DeepCopyObject(), was.DeepCopyObject()
	errs := judge(now, was)
	if diff := cmp.Diff([]runtime.Object{before, wasBefore}, []runtime.Object{now, was}); diff != "" {
		t.Errorf("validation changed an object:\n%s", diff)
	}
	return errs
}

// A step is a request of the recorded scenarios and its answer.
type step struct {
	Method, Path, Raw string
	Body              map[string]any
	Expect            struct {
		Status int
		Body   json.RawMessage
	}
}

// TestReference compares errors with those of a real server.
func TestReference(t *testing.T) {
	files, err := filepath.Glob("../../../conformance/recorded/scenarios/*.json")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var scenario struct{ Steps []step }
		text = bytes.ReplaceAll(text, []byte(`"TIME"`), []byte(`"2026-01-01T00:00:00Z"`))
		if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("${ns}"), []byte("ns")), &scenario); err != nil {
			t.Fatal(err)
		}
		stored := map[string]string{}
		for i, s := range scenario.Steps {
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), i), func(t *testing.T) {
				if replay(t, s, stored) {
					compared++
				}
			})
		}
	}
	if compared < 30 {
		t.Errorf("%d answers compared, want 30 at least", compared)
	}
}

// replay judges a refused object, and remembers one that was accepted.
func replay(t *testing.T, s step, stored map[string]string) bool {
	var answer struct {
		Kind    string
		Details struct {
			Group, Kind string
			Causes      []struct{ Reason, Message, Field string }
		}
		Metadata metav1.ObjectMeta
	}
	_ = json.Unmarshal(s.Expect.Body, &answer)
	if s.Expect.Status == 200 || s.Expect.Status == 201 {
		name, _, _ := strings.Cut(s.Path, "?")
		text := string(s.Expect.Body)
		if s.Method == "POST" {
			m, _ := s.Body["metadata"].(map[string]any)
			name += fmt.Sprint("/", m["name"])
		}
		if answer.Metadata.Name == "" && s.Body != nil {
			text = defaultstest.JSON(t, s.Body)
		}
		stored[name] = text
	}
	gk, want := schema.GroupKind{Group: answer.Details.Group, Kind: answer.Details.Kind}, []string(nil)
	for _, c := range answer.Details.Causes {
		// Metadata is judged elsewhere, but for a name that must fit the spec.
		if c.Field != "metadata" && !strings.HasPrefix(c.Field, "metadata.") || strings.HasSuffix(c.Message, `must be spec.names.plural+"."+spec.group`) {
			want = append(want, fmt.Sprintf("%s %s: %s", c.Reason, c.Field, c.Message))
		}
	}
	if text := defaultstest.JSON(t, s.Body); s.Method == "POST" && s.Expect.Status == 201 && served(text) {
		if errs := createErrors(t, text); len(errs) != 0 {
			t.Errorf("%s was accepted, but %v", text, errs)
		}
	}
	if For(gk).Create == nil || s.Expect.Status != 422 || s.Method != "POST" && len(want) == 0 {
		return false
	}
	var errs field.ErrorList
	if s.Method == "POST" {
		errs = createErrors(t, defaultstest.JSON(t, s.Body))
	} else {
		errs = changeErrors(t, "update", stored[s.Path], s.Raw)
	}
	var got []string
	for _, err := range errs {
		got = append(got, fmt.Sprintf("%s %s: %s", string(err.Type), err.Field, err.ErrorBody()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", s.Method, s.Path, diff)
	}
	return true
}

// served says that a text is an object of a built-in kind that is judged.
func served(text string) bool {
	var m metav1.TypeMeta
	gvk := schema.GroupVersionKind{}
	if err := json.Unmarshal([]byte(text), &m); err == nil {
		gvk = m.GroupVersionKind()
	}
	return defaultstest.Scheme().Recognizes(gvk) && For(gvk.GroupKind()).Create != nil
}

// TestWorkloadsDontPanic fills objects at random and judges them, as they are and defaulted.
func TestWorkloadsDontPanic(t *testing.T) {
	for gk, kind := range workloads {
		t.Run(gk.String(), func(t *testing.T) {
			gvk := gk.WithVersion("v1")
			for seed := range int64(60) {
				obj, old := defaultstest.New(t, gvk), defaultstest.New(t, gvk)
				defaultstest.Fill(seed, obj)
				defaultstest.Fill(seed+1000, old)
				judgeAll(kind, obj, old)
				for _, o := range []runtime.Object{obj, old} {
					if f := defaults.For(gvk); f != nil {
						f(o)
					}
				}
				judgeAll(kind, obj, old)
				judgeAll(kind, obj, obj.DeepCopyObject())
				for _, errs := range judgeAll(kind, obj, defaultstest.New(t, gvk)) {
					for _, err := range errs {
						_ = err.Error()
					}
				}
			}
		})
	}
}

func judgeAll(k Kind, obj, old runtime.Object) (all []field.ErrorList) {
	all = append(all, k.Create(obj), k.Update(obj, old))
	if k.Status != nil {
		all = append(all, k.Status(obj, old))
	}
	for _, part := range k.Parts {
		all = append(all, part(obj, old))
	}
	return all
}

// TestUnchangedPass: what was accepted when it was made can be written again as it is.
func TestUnchangedPass(t *testing.T) {
	err := filepath.Walk("testdata", func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "create" && d.Expected == "ok\n" {
				obj, gvk := created(t, d.Input)
				if errs := For(gvk.GroupKind()).Update(obj, obj.DeepCopyObject()); len(errs) != 0 {
					t.Errorf("%s: %s", d.Pos, errs.ToAggregate())
				}
			}
			return d.Expected
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
