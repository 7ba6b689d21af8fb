package fieldmanager

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// A new object's fields are written without structured-merge-diff wherever that is sure, and
// then the same comes out.
func TestCreationTwin(t *testing.T) {
	m := New(Config{Types: table})
	for i, res := range written() {
		e, err := m.endpoint(res, "")
		if err != nil {
			t.Fatal(err)
		}
		if e.creation == nil {
			t.Errorf("%s is left to structured-merge-diff", res.GroupVersionKind())
			continue
		}
		f := filler(int64(i))
		sure := 0
		const objects = 30
		for n := range objects {
			obj := simple(t, f, res)
			fields, ok := e.creation.fields(obj)
			if !ok {
				continue
			}
			sure++
			slow := obj.DeepCopyObject().(object)
			if _, err := e.fields.Update(&view{e.empty, e.empty}, slow, "m"); err != nil {
				t.Errorf(
					"seed %d, object %d, %s: %s where structured-merge-diff fails: %v", i, n, res.GroupVersionKind(), fields, err,
				)
				break
			}
			want := ""
			if entries := slow.GetManagedFields(); len(entries) > 0 {
				want = string(entries[0].FieldsV1.GetRawBytes())
			}
			if d := cmp.Diff(want, string(fields)); d != "" {
				t.Errorf("seed %d, object %d, %s (-structured-merge-diff +own):\n%s", i, n, res.GroupVersionKind(), d)
				break
			}
		}
		if sure < objects/2 && !opaqueKinds[res.Kind] {
			t.Errorf("only %d of %d objects of %s were sure", sure, objects, res.GroupVersionKind())
		}
	}
}

// opaqueKinds hold values of any form, or conditions that may have no type. Their status may be
// what isn't sure, which new objects don't have.
var opaqueKinds = map[string]bool{
	"ControllerRevision": true, "ResourceClaim": true, "FlowSchema": true, "PriorityLevelConfiguration": true,
	"StatefulSet": true,
}

// simple returns a random object whose texts are few and plain, so that keys meet.
func simple(t *testing.T, f *randfill.Filler, res *resources.Resource) object {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(random(t, f, res))
	if err != nil {
		t.Fatal(err)
	}
	plainTexts(content)
	out := res.New().(object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, out); err != nil {
		t.Fatal(err)
	}
	out.GetObjectKind().SetGroupVersionKind(res.GroupVersionKind())
	return out
}

// name are the names of fields, number what quantities, durations and times look like.
var (
	name   = regexp.MustCompile(`^[a-zA-Z]+$`)
	number = regexp.MustCompile(`^(|-?[0-9][0-9.eE+-]*[a-zA-Z]{0,2}|[0-9-]+T[0-9:.]+Z|[0-9hmsunµ.]+)$`)
)

func plainTexts(v any) any {
	switch v := v.(type) {
	case string:
		return plainText(v)
	case []any:
		for i := range v {
			v[i] = plainTexts(v[i])
		}
	case map[string]any:
		delete(v, "managedFields") // of pod templates
		for key, element := range v {
			if !name.MatchString(key) {
				delete(v, key)
				key = plainText("~" + key)
			}
			v[key] = plainTexts(element)
		}
	}
	return v
}

// plainText leaves numbers, quantities and times alone, and keeps bytes bytes.
func plainText(s string) string {
	if number.MatchString(s) {
		return s
	}
	h := fnv.New32()
	h.Write([]byte(s))
	return "aaa" + strconv.Itoa(int(h.Sum32()%5))
}
