package endpoints_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// TestLinkOfOddValues: an invalid value that was written directly to etcd is validated when the collector updates it.
// Lists of the collection omit it.
func TestLinkOfOddValues(t *testing.T) {
	s := apiservertest.Start(t, nil)
	api := s.API.Loopback(
		authorization.ServiceAccount("kube-system", "generic-garbage-collector"), "kube-controller-manager")
	for name, c := range map[string]struct {
		value string
		// shown reports whether lists contain it before the update.
		shown   bool
		invalid bool
	}{
		"of another shape":    {value: `"data":5,"metadata":{`},
		"of an odd finalizer": {value: `"metadata":{"finalizers":["odd"],`, shown: true, invalid: true},
	} {
		t.Run(name, func(t *testing.T) {
			const key = "/registry/configmaps/default/odd"
			s.Put(t, key, `{"kind":"ConfigMap","apiVersion":"v1",`+c.value+`"name":"odd","namespace":"default","uid":"u",
				"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"o"}],
				"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]}}`)
			if got := len(s.Do("GET", configmaps, nil).List().Items); got == 1 != c.shown {
				t.Fatalf("%d are listed", got)
			}
			was, err := s.Store.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			_, err = api.Link(t.Context(), registry.Path{
				Resource: s.Types.Collection("configmaps"), Namespace: "default", Name: "odd",
			}, func(m metav1.Object) error {
				m.SetOwnerReferences(nil)
				return nil
			})
			if err == nil || apierrors.IsInvalid(err) != c.invalid {
				t.Errorf("linking: %v", err)
			}
			if is, err := s.Store.Get(t.Context(), key); err != nil || is.ModRevision != was.ModRevision {
				t.Errorf("it was written: %s %v", is.Value, err)
			}
			if got := len(s.Do("GET", configmaps, nil).List().Items); got == 1 != c.shown {
				t.Errorf("%d are listed", got)
			}
		})
	}
}

// TestLinkInPlace: a field manager that changes a reference, and doesn't only remove others, owns the changed fields.
func TestLinkInPlace(t *testing.T) {
	s := apiservertest.Start(t, nil)
	api := s.API.Loopback(
		authorization.ServiceAccount("kube-system", "generic-garbage-collector"), "kube-controller-manager")
	must(t, s.Do("POST", configmaps,
		`{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"x"},
		{"apiVersion":"v1","kind":"ConfigMap","name":"y","uid":"y","blockOwnerDeletion":true}]}}`), http.StatusCreated)
	_, err := api.Link(t.Context(), registry.Path{
		Resource: s.Types.Collection("configmaps"), Namespace: "default", Name: "a",
	}, func(m metav1.Object) error {
		refs := m.GetOwnerReferences()
		*refs[1].BlockOwnerDeletion = false
		m.SetOwnerReferences(refs[1:])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := must(t, s.Do("GET", configmaps+"/a", nil), http.StatusOK).Object()
	var managers []string
	for _, e := range got.GetManagedFields() {
		managers = append(managers, e.Manager)
	}
	refs := got.GetOwnerReferences()
	if d := cmp.Diff([]string{
		"Go-http-client", "kube-controller-manager",
	}, managers); d != "" || len(refs) != 1 || *refs[0].BlockOwnerDeletion {
		t.Errorf("it has the owners %v and the managers (-want +got):\n%s", refs, d)
	}
}
