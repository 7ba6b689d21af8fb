package fieldmanager

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// recorded is a request and the response of Kubernetes v1.36.3.
type recorded struct {
	Name, Method, Path, Raw string
	Headers                 map[string]string
	Expect                  struct {
		Status int
		Body   json.RawMessage
	}
}

// TestManagedFieldsEqualRecordedOnes sends the recorded requests of server-side apply to this package and compares
// managed fields and errors, for which the rest of the server is not needed.
func TestManagedFieldsEqualRecordedOnes(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "conformance", "recorded", "scenarios", "apply.json"))
	if err != nil {
		t.Fatal(err)
	}
	var scenario struct{ Steps []recorded }
	if err := json.Unmarshal(data, &scenario); err != nil {
		t.Fatal(err)
	}
	r := &replay{m: New(Config{Types: table}), live: map[string]object{}}
	compared := 0
	for i, step := range scenario.Steps {
		if r.applicable(step) {
			compared++
			r.step(t, i, step)
		}
	}
	if compared < 15 {
		t.Errorf("replayed only %d steps", compared)
	}
}

type replay struct {
	m    *Managers
	live map[string]object
}

// applicable omits reads, and requests that a handler rejects before or after it calls this package.
func (r *replay) applicable(s recorded) bool {
	return s.Method == "PATCH" && strings.Contains(s.Path, "fieldManager=") &&
		!strings.Contains(string(s.Expect.Body), "does not match the name on the URL")
}

func (r *replay) step(t *testing.T, i int, s recorded) {
	u, err := url.Parse(strings.ReplaceAll(s.Path, "${ns}", "ns"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if parts[0] == "api" {
		parts = slices.Insert(parts, 1, "")
	}
	res, key := table.Lookup(parts[1], parts[2], parts[5]), strings.Join(parts[5:7], "/")
	sub := strings.Join(parts[7:], "")
	live := r.live[key]
	got, err := r.patch(t, res, sub, live, s, u.Query())
	if s.Expect.Status >= 400 {
		r.fails(t, i, s, err)
		return
	}
	if err != nil {
		t.Errorf("step %d: %v", i, err)
		return
	}
	got.SetUID(types.UID("uid"))
	if u.Query().Get("dryRun") == "" {
		r.live[key] = got
	}
	var want struct {
		Metadata struct {
			ManagedFields []metav1.ManagedFieldsEntry
		}
	}
	if err := json.Unmarshal(s.Expect.Body, &want); err != nil {
		t.Fatal(err)
	}
	seen := got.DeepCopyObject().(object)
	answer := &metav1.ObjectMeta{ManagedFields: want.Metadata.ManagedFields}
	for _, o := range []metav1.Object{seen, answer} {
		forget(o)
		// Entries are ordered by whole seconds, so those of the same second were recorded in the order of managers.
		slices.SortStableFunc(o.GetManagedFields(), func(a, b metav1.ManagedFieldsEntry) int {
			return strings.Compare(a.Manager, b.Manager)
		})
	}
	if d := cmp.Diff(answer.ManagedFields, seen.GetManagedFields()); d != "" {
		t.Errorf("step %d %s (-recorded +own):\n%s", i, s.Name, d)
	}
}

func (r *replay) patch(
	t *testing.T, res *resources.Resource, sub string, live object, s recorded, query url.Values) (object, error) {
	manager := query.Get("fieldManager")
	var was runtime.Object
	if live != nil {
		was = live
	}
	if s.Headers["Content-Type"] == "application/apply-patch+yaml" {
		obj, err := r.m.Apply(res, sub, was, []byte(s.Raw), manager, query.Get("force") == "true", "Strict", nil)
		if err != nil {
			return nil, err
		}
		return obj.(object), nil
	}
	before, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	after, err := jsonpatch.MergePatch(before, []byte(s.Raw))
	if err != nil {
		t.Fatal(err)
	}
	next := res.New().(object)
	if err := json.Unmarshal(after, next); err != nil {
		t.Fatal(err)
	}
	return r.m.Update(res, sub, was, next, manager).(object), nil
}

func (r *replay) fails(t *testing.T, i int, s recorded, err error) {
	var want, got metav1.Status
	if err := json.Unmarshal(s.Expect.Body, &want); err != nil {
		t.Fatal(err)
	}
	switch status, ok := err.(apierrors.APIStatus); {
	case err == nil:
		t.Errorf("step %d: no error, but %d %s was recorded", i, want.Code, want.Message)
		return
	case ok:
		got = status.Status()
	default:
		got = metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: err.Error()}
	}
	got.TypeMeta = want.TypeMeta
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("step %d %s (-recorded +own):\n%s", i, s.Name, d)
	}
}
