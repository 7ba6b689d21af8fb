package loopback_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// TestCollectorsWritesEqualPatches: what the collector takes away is stored, managed fields and all, as if it had sent
// the patch of D-50, and a write that takes the last finalizer of a dying object removes it. One of each two objects is
// written by it, and one by a client. Some references share a uid.
func TestCollectorsWritesEqualPatches(t *testing.T) {
	s := apiservertest.Start(t, nil)
	c := collectorOf(s)
	const pods = "/api/v1/namespaces/default/pods"
	r := rand.New(rand.NewSource(1))
	removed := 0
	for round := range 60 {
		refs, finalizers := randomLinks(r)
		path, collection := configMaps, "configmaps"
		body := map[string]any{"data": map[string]any{"k": "<é> & \u2028"}}
		if round%2 == 0 {
			path, collection = pods, "pods"
			body = map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}}
		}
		later := fmt.Sprintf(`{"metadata":{"finalizers":%s,"labels":{"app":"x"}}}`, encoded(t, finalizers))
		lost := refs[r.Intn(len(refs))].(map[string]any)["uid"].(string)
		dying := round%3 == 0
		var stored [2]map[string]any
		for i, name := range []string{fmt.Sprintf("a%d", round), fmt.Sprintf("b%d", round)} {
			at := path + "/" + name
			create(t, s, path, name, map[string]any{"ownerReferences": refs}, body)
			do(t, s, http.MethodPatch, at+"?fieldManager=other", later)
			if dying {
				do(t, s, http.MethodDelete, at, `{"gracePeriodSeconds":0}`)
			}
			if i == 0 {
				now := s.Do("GET", at, nil).Object()
				if err := c.RemoveOwners(
					t.Context(), graph.RemoveOwners{Object: refOf(t, now, collection), Owners: []string{lost}},
				); err != nil {
					t.Fatal(err)
				}
				now = s.Do("GET", at, nil).Object()
				if err := c.RemoveFinalizer(
					t.Context(), graph.RemoveFinalizer{Object: refOf(t, now, collection), Finalizer: graph.Orphan},
				); err != nil {
					t.Fatal(err)
				}
			} else {
				const manager = "?fieldManager=kube-controller-manager"
				do(t, s, http.MethodPatch, at+manager,
					fmt.Sprintf(`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":%q}]}}`, lost), "Content-Type",
					"application/strategic-merge-patch+json")
				do(t, s, http.MethodPatch, at+manager,
					fmt.Sprintf(`{"metadata":{"finalizers":%s}}`, encoded(t, finalizers[:len(finalizers)-1])))
			}
			a := s.Do("GET", at, nil)
			if a.Code == http.StatusNotFound {
				removed++
				continue
			}
			stored[i] = anonymous(a)
		}
		if d := cmp.Diff(stored[1], stored[0]); d != "" {
			t.Fatalf("round %d (-patch +link):\n%s", round, d)
		}
	}
	if removed == 0 {
		t.Error("none was removed")
	}
}

// randomLinks returns one to four references, of which some share a uid, and one or two finalizers.
func randomLinks(r *rand.Rand) (refs, finalizers []any) {
	for i := range 1 + r.Intn(4) {
		o := map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "name": fmt.Sprint("o", i), "uid": fmt.Sprint("u", r.Intn(6)),
		}
		if r.Intn(2) == 0 {
			o["blockOwnerDeletion"] = true
		}
		refs = append(refs, o)
	}
	for i := range r.Intn(2) {
		finalizers = append(finalizers, fmt.Sprintf("example.com/%d", i))
	}
	return refs, append(finalizers, "orphan")
}

func encoded(t *testing.T, v []any) string {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// anonymous returns an object without the fields that differ between equal objects.
func anonymous(a apiservertest.Answer) map[string]any {
	o := a.Object()
	for _, f := range []string{"name", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"} {
		delete(o.Object["metadata"].(map[string]any), f)
	}
	entries := o.GetManagedFields()
	for i := range entries {
		entries[i].Time = &metav1.Time{}
	}
	o.SetManagedFields(entries)
	return o.Object
}
