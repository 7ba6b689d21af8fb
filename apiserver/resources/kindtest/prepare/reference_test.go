package prepare

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/objecttest"
	"github.com/kubecascade/kubecascade/conformance/recorded"
)

// created is a recorded POST with the response 201 of a real server.
type created struct {
	Method string
	Path   string
	Body   json.RawMessage
	Expect struct {
		Status int
		Body   any
	}
}

// object returns the response's body, or nil if it is text.
func (c *created) object() map[string]any {
	m, _ := c.Expect.Body.(map[string]any)
	return m
}

// TestPreparedObjectsEqualRecordedOnes: the recordings are of v1.36.3. The changes in v1.37 are exceptions.
func TestPreparedObjectsEqualRecordedOnes(t *testing.T) {
	files := recordings(t)
	n := 0
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var recording struct{ Steps []created }
		if err := json.Unmarshal(data, &recording); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i, step := range recording.Steps {
			if step.Method != "POST" || step.Expect.Status != 201 || step.object()["apiVersion"] == nil {
				continue // unrecorded responses, and tables, have no object
			}
			var meta metav1.TypeMeta
			if json.Unmarshal(step.Body, &meta) != nil || !objecttest.Scheme().Recognizes(gvkOf(meta)) {
				continue // not an object, or a custom one
			}
			n++
			change(t, &step, filepath.Base(filepath.Dir(path))+"/"+strings.TrimSuffix(filepath.Base(path), ".json"), i)
			got, want := answer(t, step, gvkOf(meta)), compared(step.object(), step.object())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, step %d, POST %s (-real +ours):\n%s", filepath.Base(path), i, step.Path, diff)
			}
		}
	}
	if n == 0 {
		t.Error("the recordings have no created objects")
	}
}

// change applies the reviewed changes of a step's response.
func change(t *testing.T, s *created, scenario string, step int) {
	t.Helper()
	var all []struct {
		Scenario string
		Step     int
		Fields   []struct {
			Path string
			To   any
		}
	}
	if err := json.Unmarshal(recorded.Changes(""), &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Scenario != scenario || c.Step != step {
			continue
		}
		for _, f := range c.Fields {
			keys := strings.Split(strings.TrimPrefix(f.Path, "/body/"), "/")
			in := s.object()
			for _, k := range keys[:len(keys)-1] {
				in = in[k].(map[string]any)
			}
			in[keys[len(keys)-1]] = f.To
		}
	}
}

func recordings(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..", "..", "..", "conformance", "recorded")
	var files []string
	for _, pattern := range []string{"scenarios/*.json", "owners/*.json"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatalf("no recordings of a real server at %s", root)
	}
	return files
}

func gvkOf(m metav1.TypeMeta) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(m.APIVersion, m.Kind)
}

// answer returns this server's response without the fields that can't be compared.
func answer(t *testing.T, step created, gvk schema.GroupVersionKind) map[string]any {
	t.Helper()
	obj := objecttest.New(t, gvk)
	if err := json.Unmarshal(step.Body, obj); err != nil {
		t.Fatalf("%s: %v", step.Path, err)
	}
	kind := all.Of(gvk)
	if f := kind.Default; f != nil {
		f(obj)
	}
	if m, ok := obj.(metav1.Object); ok {
		m.SetCreationTimestamp(metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		if want, ok := step.object()["metadata"].(map[string]any); ok {
			uid, _ := want["uid"].(string)
			m.SetUID(types.UID(uid))
		}
	}
	if f := kind.Update; f != nil {
		f(obj, nil)
	}
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	return compared(body, step.object())
}

// compared removes from a response the fields that other parts of a server set: names and times, allocated values, and
// the changes of pods by admission. real is the response of the real server.
func compared(body, real map[string]any) map[string]any {
	out := map[string]any{}
	realMeta, _ := real["metadata"].(map[string]any)
	for key, v := range body {
		if key != "metadata" {
			out[key] = neutralize(v, realMeta["uid"])
		}
	}
	if m, ok := body["metadata"].(map[string]any); ok {
		out["labels"], out["annotations"] = neutralize(m["labels"], realMeta["uid"]), m["annotations"]
	}
	if spec, ok := out["spec"].(map[string]any); ok && body["kind"] == "Pod" {
		for _, admitted := range []string{"tolerations", "priority", "preemptionPolicy"} {
			delete(spec, admitted)
		}
	}
	if _, reviewed := body["status"]; reviewed && body["metadata"] != nil && realMeta["uid"] == nil {
		delete(out, "status") // the status of a review is its result
	}
	return out
}

// neutralize replaces times, and removes values that contain the object's uid, because some recordings lack them.
func neutralize(v, uid any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if uid == nil || inner != uid {
				out[key] = neutralize(inner, uid)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = neutralize(v[i], uid)
		}
		return out
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "TIME"
		}
	}
	return v
}
