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

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/conformance/recorded"
	answers "github.com/kubecascade/kubecascade/conformance/replay"
)

// TestScenarios validates the objects in testdata as the server does: after defaulting and preparation. The first
// document of an update is the old object, the second one a merge patch.
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

// created parses an object, and prepares it as the server does before it stores the object. The object keeps the status
// in the text.
func created(t *testing.T, text string) (runtime.Object, schema.GroupVersionKind) {
	obj, gvk := objecttest.Read(t, text)
	m, err := meta.Accessor(obj)
	if err != nil {
		t.Fatal(err)
	}
	if m.GetUID() == "" {
		m.SetUID("the-uid")
	}
	kind := all.Of(gvk)
	if kind.Default != nil {
		kind.Default(obj)
	}
	if kind.Update != nil {
		kind.Update(obj, nil)
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

// patched returns a copy of an object with a merge patch applied.
func patched(t *testing.T, obj runtime.Object, patch map[string]any) runtime.Object {
	var now map[string]any
	if err := json.Unmarshal([]byte(objecttest.JSON(t, obj)), &now); err != nil {
		t.Fatal(err)
	}
	text := objecttest.JSON(t, merge(now, patch))
	result, _ := objecttest.Read(t, text)
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
	errs := validationOf(gvk.GroupKind()).Whole(obj, nil)
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
	kind := kindOf(gvk.GroupKind())
	validate, ready := kind.Validation.Parts[what], kind.Prepare.Parts[what]
	switch what {
	case "update":
		validate, ready = kind.Validation.Whole, kind.Update
	case "status":
		validate, ready = kind.Validation.Status, kind.Status
	}
	now := patched(t, was, change)
	if kind.Default != nil {
		kind.Default(now)
	}
	if ready != nil {
		ready(now, was)
	}
	before, wasBefore := now.DeepCopyObject(), was.DeepCopyObject()
	errs := validate(now, was)
	if diff := cmp.Diff([]runtime.Object{before, wasBefore}, []runtime.Object{now, was}); diff != "" {
		t.Errorf("validation changed an object:\n%s", diff)
	}
	return errs
}

// step is a request of the recorded scenarios, with its response.
type step struct {
	Method, Path, Raw string
	Body              map[string]any
	Expect            struct {
		Status int
		Body   json.RawMessage
	}
	changed map[string]string
}

// changes returns the messages of causes that v1.37 changed, by scenario and step, and by path.
var changes = func() func(t *testing.T) map[string]map[string]string {
	var all map[string]map[string]string
	return func(t *testing.T) map[string]map[string]string {
		if all != nil {
			return all
		}
		var list []struct {
			Scenario string
			Step     int
			Fields   []struct {
				Path string
				To   any
			}
		}
		if err := json.Unmarshal(recorded.Changes(""), &list); err != nil {
			t.Fatal(err)
		}
		all = map[string]map[string]string{}
		for _, c := range list {
			at := fmt.Sprintf("%s %d", c.Scenario, c.Step)
			all[at] = map[string]string{}
			for _, f := range c.Fields {
				all[at][f.Path] = fmt.Sprint(f.To)
			}
		}
		return all
	}
}()

// TestErrorsEqualRecordedOnes compares errors with those of a real v1.36.3 server, except for the changes in v1.37.
func TestErrorsEqualRecordedOnes(t *testing.T) {
	files, err := filepath.Glob("../../../../conformance/recorded/scenarios/*.json")
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
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		for i, s := range scenario.Steps {
			s.changed = changes(t)[fmt.Sprintf("scenarios/%s %d", name, i)]
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), i), func(t *testing.T) {
				if replay(t, s, stored) {
					compared++
				}
			})
		}
	}
	if compared < 30 {
		t.Errorf("%d responses compared, want 30 at least", compared)
	}
}

// replay validates the object of a rejected request, and stores the object of an accepted one.
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
			text = objecttest.JSON(t, s.Body)
		}
		stored[name] = text
	}
	gk, want := schema.GroupKind{Group: answer.Details.Group, Kind: answer.Details.Kind}, []string(nil)
	for i, c := range answer.Details.Causes {
		if to, ok := s.changed[fmt.Sprintf("/body/details/causes/%d/message", i)]; ok {
			c.Message = to
		}
		// Other code validates metadata, except a name that must match the spec.
		if c.Field != "metadata" && !strings.HasPrefix(c.Field, "metadata.") ||
			strings.HasSuffix(c.Message, `must be spec.names.plural+"."+spec.group`) {
			want = append(want, fmt.Sprintf("%s %s: %s", c.Reason, c.Field, answers.WithoutPrinted(c.Message)))
		}
	}
	if text := objecttest.JSON(t, s.Body); s.Method == "POST" && s.Expect.Status == 201 && served(text) {
		if errs := createErrors(t, text); len(errs) != 0 {
			t.Errorf("%s was accepted, but %v", text, errs)
		}
	}
	if validationOf(gk).Whole == nil || s.Expect.Status != 422 || s.Method != "POST" && len(want) == 0 {
		return false
	}
	var errs field.ErrorList
	if s.Method == "POST" {
		errs = createErrors(t, objecttest.JSON(t, s.Body))
	} else {
		errs = changeErrors(t, "update", stored[s.Path], s.Raw)
	}
	var got []string
	for _, err := range errs {
		got = append(got, fmt.Sprintf("%s %s: %s", string(err.Type), err.Field, answers.WithoutPrinted(err.ErrorBody())))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", s.Method, s.Path, diff)
	}
	return true
}

// served reports whether a string is an object of a built-in kind that is validated.
func served(text string) bool {
	var m metav1.TypeMeta
	gvk := schema.GroupVersionKind{}
	if err := json.Unmarshal([]byte(text), &m); err == nil {
		gvk = m.GroupVersionKind()
	}
	return objecttest.Scheme().Recognizes(gvk) && validationOf(gvk.GroupKind()).Whole != nil
}

// TestUnchangedPass: an object that was accepted when it was created can be written again unchanged.
func TestUnchangedPass(t *testing.T) {
	err := filepath.Walk("testdata", func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "create" && d.Expected == "ok\n" {
				obj, gvk := created(t, d.Input)
				if errs := validationOf(gvk.GroupKind()).Whole(obj, obj.DeepCopyObject()); len(errs) != 0 {
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
