package endpoints_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// serving parses pairs as --runtime-config does.
func serving(t *testing.T, pairs ...string) *resources.Serving {
	t.Helper()
	s, absent, err := resources.ParseServing(pairs)
	if err != nil {
		t.Fatalf("%v: %v, absent %v", pairs, err, absent)
	}
	return s
}

// TestEveryVersion sends requests with each verb to each version that --runtime-config can enable.
func TestEveryVersion(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Serving: serving(t, "api/all=true")})
	objects := minimal(t)
	for _, r := range resources.Every(nil) {
		if !r.Off {
			continue
		}
		t.Run(r.Plural+"."+r.Group+"/"+r.Version, func(t *testing.T) {
			w := &walk{t: t, s: s, r: r, obj: &unstructured.Unstructured{Object: minimalOf(objects, r)}}
			w.create()
			if r.Deprecated != "" &&
				!slices.Contains(s.Do("GET", w.path, nil).Header.Values("Warning"), `299 - "`+r.Deprecated+`"`) {
				t.Errorf("no warning that the version is deprecated")
			}
			w.read()
			w.change()
			w.subresources()
			w.remove()
		})
	}
}

// TestVersionsShareObjects: an object is one object in all versions of its resource, stored in one of them.
func TestVersionsShareObjects(t *testing.T) {
	s := apiservertest.Start(
		t, &apiservertest.Options{Serving: serving(t, "resource.k8s.io/v1beta1=true", "resource.k8s.io/v1beta2=true")},
	)
	const base, claims = "/apis/resource.k8s.io/", "/namespaces/default/resourceclaims"
	watch := s.Watch(base + "v1beta1" + claims + "?watch=true")
	defer watch.Close()
	created := s.Do(
		"POST", base+"v1beta1"+claims,
		`{"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","deviceClassName":"gpu"}]}}}`,
	)
	must(t, created, http.StatusCreated)
	request := func(o *unstructured.Unstructured) map[string]any {
		all, _, err := unstructured.NestedSlice(o.Object, "spec", "devices", "requests")
		if err != nil || len(all) != 1 {
			t.Fatalf("requests %v, %v", all, err)
		}
		return all[0].(map[string]any)
	}
	exact := map[string]any{"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": int64(1)}
	flat := map[string]any{"name": "r", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": int64(1)}
	want := map[string]map[string]any{
		"v1beta1": flat, "v1beta2": {"name": "r", "exactly": exact}, "v1": {"name": "r", "exactly": exact},
	}
	for version, want := range want {
		a := s.Do("GET", base+version+claims+"/c", nil)
		must(t, a, http.StatusOK)
		if d := cmp.Diff(want, request(a.Object())); d != "" || a.Object().GetAPIVersion() != "resource.k8s.io/"+version ||
			a.Object().GetUID() != created.Object().GetUID() {
			t.Errorf("%s: %s\n%s", version, a.Body, d)
		}
		list := s.Do("GET", base+version+claims, nil).List()
		if len(list.Items) != 1 || list.GetAPIVersion() != "resource.k8s.io/"+version ||
			cmp.Diff(want, request(&list.Items[0])) != "" {
			t.Errorf("%s lists %v", version, list)
		}
	}
	if e, err := watch.Next(); err != nil || !same(flat, request(e.Object)) {
		t.Errorf("watched %v, %v", e.Object, err)
	}
	rec, err := s.Store.Get(t.Context(), "/registry/resourceclaims/default/c")
	if err != nil || !strings.Contains(string(rec.Value), `"apiVersion":"resource.k8s.io/v1"`) ||
		!strings.Contains(string(rec.Value), `"exactly":{`) {
		t.Errorf("stored %s, %v", rec.Value, err)
	}
	// A field that a manager has applied in one version conflicts with an apply of another manager in another version.
	apply := func(version, manager, labels string, code int) apiservertest.Answer {
		a := s.Do("PATCH", base+version+claims+"/c?fieldManager="+manager,
			`{"apiVersion":"resource.k8s.io/`+version+`","kind":"ResourceClaim","metadata":{"name":"c","labels":`+labels+
				`}}`, "Content-Type", "application/apply-patch+yaml")
		must(t, a, code)
		return a
	}
	apply("v1beta1", "a", `{"k":"1"}`, http.StatusOK)
	apply("v1", "b", `{"k":"2"}`, http.StatusConflict)
	if o := apply("v1", "a", `{"l":"1"}`, http.StatusOK).Object(); cmp.Diff(map[string]string{
		"l": "1",
	}, o.GetLabels()) != "" {
		t.Errorf("labels %v", o.GetLabels())
	}
	// An invalid request is rejected whichever version it is in.
	a := s.Do("POST", base+"v1beta1"+claims, `{"metadata":{"name":"d"},"spec":{"devices":{"requests":[{"name":"r"}]}}}`)
	must(t, a, http.StatusUnprocessableEntity)
}

// TestTurnedOff: a version or a resource that is disabled is not found and not discovered; others are.
func TestTurnedOff(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Serving: serving(
		t, "batch/v1=false", "autoscaling/v1=false", "apps/v1/deployments=false", "resource.k8s.io/v1beta2=true",
	)})
	for path, code := range map[string]int{
		"/apis/batch/v1/jobs": 404, "/apis/batch/v1/namespaces/default/jobs/x/status": 404, "/apis/batch/v1": 404,
		"/apis/batch": 404, "/openapi/v3/apis/batch/v1": 404,
		"/apis/autoscaling/v1": 404, "/apis/autoscaling/v1/horizontalpodautoscalers": 404,
		"/apis/autoscaling/v2/horizontalpodautoscalers": 200,
		"/apis/apps/v1/deployments":                     404, "/apis/apps/v1/replicasets": 200,
		"/apis/resource.k8s.io/v1beta2": 200, "/apis/resource.k8s.io/v1beta2/deviceclasses": 200,
		"/openapi/v3/apis/resource.k8s.io/v1beta2": 200,
		"/apis/resource.k8s.io/v1beta1":            404, "/apis/storage.k8s.io/v1beta1/volumeattributesclasses": 404,
	} {
		if a := s.Do("GET", path, nil); a.Code != code {
			t.Errorf("%s: %d, want %d", path, a.Code, code)
		}
	}
	groups := string(s.Do("GET", "/apis", nil).Body)
	if strings.Contains(groups, `"batch`) || !strings.Contains(groups, `"resource.k8s.io/v1beta2"`) ||
		strings.Contains(groups, `"autoscaling/v1"`) {
		t.Errorf("groups %s", groups)
	}
	if apps := string(s.Do("GET", "/apis/apps/v1", nil).Body); strings.Contains(apps, `"deployments`) ||
		!strings.Contains(apps, `"replicasets"`) {
		t.Errorf("apps/v1 %s", apps)
	}
}
