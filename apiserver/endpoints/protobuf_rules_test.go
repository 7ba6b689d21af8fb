package endpoints_test

import (
	"encoding/base64"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// wrap returns a protobuf body with the kind.
func wrap(t *testing.T, apiVersion, kind string, obj interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := obj.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	data, err := u.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), data...)
}

// TestProtobufBodies: each request is sent in protobuf and in JSON. The responses, including Statuses, must be equal.
func TestProtobufBodies(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 1)
	uid := s.Do("GET", configmaps+"/m00", nil).Object().GetUID()
	cm := func(m metav1.ObjectMeta) *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: m} }
	yes, one, orphan := true, configmaps+"/m00", metav1.DeletePropagationOrphan
	for _, c := range []struct {
		name, method, path string
		apiVersion, kind   string
		obj                interface{ Marshal() ([]byte, error) }
		code               int
	}{
		{"A-02 no kind", "POST", configmaps + "?dryRun=All", "", "", cm(metav1.ObjectMeta{Name: "x"}), 201},
		{"A-02 no version", "POST", configmaps + "?dryRun=All", "", "ConfigMap", cm(metav1.ObjectMeta{Name: "x"}), 201},
		{"A-02 other version", "POST", configmaps, "v2", "ConfigMap", cm(metav1.ObjectMeta{Name: "x"}), 400},
		{
			"A-03 other kind", "POST", configmaps, "v1", "Secret", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, 400,
		},
		{"A-07", "POST", configmaps, "v1", "ConfigMap", cm(metav1.ObjectMeta{Name: "x", ResourceVersion: "5"}), 500},
		{"A-09", "POST", configmaps, "v1", "ConfigMap", cm(metav1.ObjectMeta{Name: "x", Namespace: "other"}), 400},
		{"A-12", "POST", configmaps, "v1", "ConfigMap", cm(metav1.ObjectMeta{}), 422},
		{
			"A-24", "POST", configmaps, "v1", "ConfigMap",
			cm(metav1.ObjectMeta{Name: "x", OwnerReferences: []metav1.OwnerReference{{}}}), 422,
		},
		{"A-26", "POST", configmaps, "v1", "ConfigMap",
			cm(metav1.ObjectMeta{Name: "x", OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "A", Name: "a", UID: "a", Controller: &yes},
				{APIVersion: "v1", Kind: "B", Name: "b", UID: "b", Controller: &yes}}}), 422},
		{
			"A-30", "POST", configmaps, "v1", "ConfigMap",
			cm(metav1.ObjectMeta{Name: "x", Finalizers: []string{"orphan", "foregroundDeletion"}}), 422,
		},
		{"A-38", "POST", configmaps + "?dryRun=x", "v1", "ConfigMap", cm(metav1.ObjectMeta{Name: "x"}), 422},
		{"0-03", "POST", configmaps, "v1", "ConfigMap", cm(metav1.ObjectMeta{Name: "m00"}), 409},
		{"B-02", "PUT", one, "v1", "ConfigMap", cm(metav1.ObjectMeta{Name: "x"}), 400},
		{"B-07", "PUT", one, "v1", "ConfigMap", cm(metav1.ObjectMeta{Name: "m00", ResourceVersion: "x"}), 500},
		{"B-08", "PUT", one, "v1", "ConfigMap", cm(metav1.ObjectMeta{Name: "m00", ResourceVersion: "1"}), 409},
		{"B-09", "PUT", one, "v1", "ConfigMap", cm(metav1.ObjectMeta{Name: "m00", UID: "other"}), 409},
		{
			"B-12", "PUT", one, "v1", "ConfigMap",
			cm(metav1.ObjectMeta{Name: "m00", DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0).UTC()}}), 422,
		},
		{
			"DeleteOptions: other uid", "DELETE", one, "v1", "DeleteOptions",
			&metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")}, 409,
		},
		{"DeleteOptions: other kind", "DELETE", one, "v1", "Pod", &metav1.DeleteOptions{}, 400},
		{
			"DeleteOptions: both policies", "DELETE", one, "v1", "DeleteOptions",
			&metav1.DeleteOptions{PropagationPolicy: &orphan, OrphanDependents: &yes}, 422,
		},
		{
			"DeleteOptions: tried", "DELETE", one, "v1", "DeleteOptions",
			&metav1.DeleteOptions{DryRun: []string{"All"}}, 200,
		},
		{"DeleteOptions: no kind", "DELETE", one, "", "", &metav1.DeleteOptions{DryRun: []string{"All"}}, 200},
		{
			"DeleteOptions of many: tried", "DELETE", configmaps, "v1", "DeleteOptions",
			&metav1.DeleteOptions{DryRun: []string{"All"}}, 200,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := s.Do(c.method, c.path, wrap(t, c.apiVersion, c.kind, c.obj), "Content-Type", mediaProtobuf)
			j := s.Do(c.method, c.path, asJSON(t, c.apiVersion, c.kind, c.obj))
			if p.Code != c.code || p.Code != j.Code {
				t.Fatalf("protobuf %d %s\nJSON %d %s", p.Code, p.Body, j.Code, j.Body)
			}
			if p.Code >= 400 {
				if diff := cmp.Diff(j.Status(), p.Status()); diff != "" {
					t.Errorf("(-JSON +protobuf)\n%s", diff)
				}
			}
		})
	}
	// A Status has a protobuf form, too.
	a := s.Do("GET", configmaps+"/none", nil, "Accept", mediaProtobuf)
	if st, ok := unproto(t, a.Body).(*metav1.Status); !ok || st.Code != 404 || st.Details.Name != "none" {
		t.Errorf("%v", st)
	}
	must(t, s.Do("DELETE", configmaps+"/m00", wrap(t, "v1", "DeleteOptions", &metav1.DeleteOptions{
		Preconditions: metav1.NewUIDPreconditions(string(types.UID(uid))),
	}), "Content-Type", mediaProtobuf), http.StatusOK)
}

// asJSON returns the same body in JSON with its kind, if it has one.
func asJSON(t *testing.T, apiVersion, kind string, obj any) map[string]any {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	delete(content, "kind")
	delete(content, "apiVersion")
	if kind != "" {
		content["kind"] = kind
	}
	if apiVersion != "" {
		content["apiVersion"] = apiVersion
	}
	return content
}

// unstorable are protobuf bodies with values that JSON does not have: a time after the year 9999, or raw bytes that are
// not JSON.
var unstorable = []unstored{
	{"/api/v1/namespaces/default/events", "azhzAAoLCgJ2MRIFRXZlbnQSGwoFCgNiYWQSCRIHZGVmYXVsdDIHCICD0f+vBxoAIgA="},
	{
		"/apis/apps/v1/namespaces/default/controllerrevisions",
		"azhzAAodCgdhcHBzL3YxEhJDb250cm9sbGVyUmV2aXNpb24SDQoFCgNiYWQSBAoCeHgaACIA",
	},
}

type unstored struct{ collection, base64 string }

func (u unstored) body() []byte {
	data, err := base64.StdEncoding.DecodeString(u.base64)
	if err != nil {
		panic(err)
	}
	return data
}

// TestUnstorableProtobufIsRejected: an unstorable object is rejected, because no client could read or delete it
// afterwards.
func TestUnstorableProtobufIsRejected(t *testing.T) {
	s := apiservertest.Start(t, nil)
	for _, u := range unstorable {
		must(t, s.Do("POST", u.collection, string(u.body()), "Content-Type", mediaProtobuf), http.StatusBadRequest)
		must(t, s.Do("GET", u.collection+"/bad", nil), http.StatusNotFound)
	}
}
