package endpoints_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestManagers: an unreasonable number of managedFields is rejected before their fields are compared.
func TestManagers(t *testing.T) {
	s := apiservertest.Start(t, nil)
	managers := func(n int) string {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf(
				`{"manager":"m%d","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}`,
				i,
			))
		}
		return `{"metadata":{"name":"a","managedFields":[` + strings.Join(entries, ",") + `]},"data":{"k":"v"}}`
	}
	must(t, s.Do("POST", configmaps, managers(2001)), http.StatusRequestEntityTooLarge)
	must(t, s.Do("POST", configmaps, managers(2000)), http.StatusCreated)
	must(t, s.Do("PUT", configmaps+"/a", managers(2001)), http.StatusRequestEntityTooLarge)
	must(t, s.Do("PATCH", configmaps+"/a", managers(2001)), http.StatusRequestEntityTooLarge)
}

// TestWithoutManagedFields: an object that is too large with its managedFields is stored without them,
// unless they are the point of the request (0-15).
func TestWithoutManagedFields(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	data := map[string]any{}
	for i := range 4000 { // names of keys stand in managedFields, too
		data[fmt.Sprintf("%0240d", i)] = ""
	}
	body := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data}
	}
	a := must(t, s.Do("POST", configmaps, body("a")), http.StatusCreated).Object()
	if len(a.GetManagedFields()) != 0 {
		t.Error("created with managedFields")
	}
	a = must(t, s.Do("PUT", configmaps+"/a", body("a")), http.StatusOK).Object()
	if len(a.GetManagedFields()) != 0 {
		t.Error("replaced with managedFields")
	}
	data["more"] = ""
	a = must(t, s.Do("PATCH", configmaps+"/a", `{"data":{"more":"1"}}`), http.StatusOK).
		Object()
	if n := len(a.GetManagedFields()); n > 1 {
		t.Errorf("patched with %d managedFields", n)
	}
	st := s.Do("PATCH", configmaps+"/b?fieldManager=m", body("b"), "Content-Type", "application/apply-patch+yaml").Status()
	if st.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("applied: %+v", st)
	}
}

// TestWarningBounds: 0-12.
func TestWarningBounds(t *testing.T) {
	s := apiservertest.Start(t, nil)
	for _, c := range []struct {
		name string
		// fields are the lengths of the unknown fields' names.
		fields []int
		// want are the lengths of the warnings in the response.
		want []int
	}{
		{"all fit", []int{1000, 1000, 1000}, []int{1016, 1016, 1016}},
		{"too much: all are cut", []int{1000, 3500, 10, 300}, []int{256, 256, 26, 256}},
		{"as often as they fit, cut", repeated(20, 400), repeated(16, 256)},
		{
			"the one that passes the bound still comes", append(repeated(14, 400), 10, 400, 400, 400),
			append(repeated(14, 256), 26, 256, 256),
		},
	} {
		body := `{"metadata":{"name":"x"}`
		for i, n := range c.fields {
			body += fmt.Sprintf(`,"%s%02d":1`, strings.Repeat("u", n-2), i)
		}
		a := must(t, s.Do("POST", configmaps+"?dryRun=All", body+"}"), http.StatusCreated)
		var got []int
		for _, w := range a.Header.Values("Warning") {
			text := strings.TrimSuffix(strings.TrimPrefix(w, `299 - "`), `"`)
			got = append(got, len(strings.ReplaceAll(text, `\"`, `"`)))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func repeated(n, value int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = value
	}
	return out
}
