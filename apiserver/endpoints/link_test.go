package endpoints_test

import (
	"context"
	"fmt"
	"math/rand"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authentication"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestLinkOfEveryKind: the collector's metadata update stores the same bytes as an update of the whole object,
// whichever clients and requests have written the object before. If the store rejects the metadata update as too large,
// it is followed by an update of the whole object, so the test sees both.
func TestLinkOfEveryKind(t *testing.T) {
	apiservertest.Sequential(t)
	store := &rejecting{Store: storagetest.Open(t)}
	l := &linked{
		Server: apiservertest.Start(t, &apiservertest.Options{Store: store}), store: store, r: rand.New(rand.NewSource(1)),
	}
	objects := minimal(t)
	var whole []string
	for _, r := range resources.Builtin() {
		if r.Collection == "" {
			continue
		}
		name := strings.TrimSuffix(r.Plural+"."+r.Group, ".")
		obj := minimalOf(objects, r)
		l.t, l.res, l.obj = t, r, &unstructured.Unstructured{Object: obj}
		both := 0
		for try := 0; try < 40 && both < 2; try++ {
			if l.write() {
				both++
			}
		}
		if both == 0 {
			whole = append(whole, name+"/"+r.Version)
		}
	}
	slices.Sort(whole)
	// Namespaces have finalizers in their spec, too; CRDs are updated in the version that is served; and the
	// managedFields of some kinds are of another version than the collector uses.
	want := []string{
		"customresourcedefinitions.apiextensions.k8s.io/v1", "events.events.k8s.io/v1",
		"horizontalpodautoscalers.autoscaling/v1", "namespaces/v1",
	}
	if d := cmp.Diff(want, whole); d != "" {
		t.Errorf("written as a whole only (-want +got):\n%s", d)
	}
}

// TestLinkOfOddValues: an invalid value that was written directly to etcd is validated before it is written, and is
// omitted from lists of the collection.
func TestLinkOfOddValues(t *testing.T) {
	s := apiservertest.Start(t, nil)
	api := s.API.Loopback(
		authentication.ServiceAccount("kube-system", "generic-garbage-collector"), "kube-controller-manager",
	)
	for name, c := range map[string]struct {
		value string
		// shown is whether lists contain it before the update.
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

// rejecting is a store that rejects the next transaction as too large, and records all of them.
type rejecting struct {
	storage.Store
	reject bool
	seen   []storage.Txn
}

func (r *rejecting) Commit(ctx context.Context, t storage.Txn) (int64, error) {
	r.seen = append(r.seen, t)
	if r.reject {
		r.reject = false
		return 0, storage.ErrTooLarge
	}
	return r.Store.Commit(ctx, t)
}

// linked is a kind under test.
type linked struct {
	*apiservertest.Server
	t     *testing.T
	store *rejecting
	r     *rand.Rand
	res   *resources.Resource
	obj   *unstructured.Unstructured
}

// write creates an object and removes some of its owners and finalizers. It reports whether that was written in both
// ways.
func (l *linked) write() bool {
	u := l.obj.DeepCopy()
	if u.GetName() == "" {
		u.SetName("link")
	}
	u.SetAPIVersion(l.res.GroupVersion().String())
	u.SetKind(l.res.Kind)
	u.SetAnnotations(map[string]string{"a.io/x": "<é> & \u2028 \x01 \U0001F600"})
	l.link(u)
	path := pathOf(l.res) + "/" + u.GetName()
	defer l.remove(path)
	a := l.Do("PATCH", path+"?fieldManager=applier", u.Object, "Content-Type", "application/apply-patch+yaml")
	if l.r.Intn(2) == 0 {
		l.remove(path)
		a = l.Do("POST", pathOf(l.res)+"?fieldManager=creator", u.Object)
	}
	if a.Code != http.StatusCreated {
		l.t.Fatalf("%s: %d %s", path, a.Code, a.Body)
	}
	l.patch(path, u)
	if l.r.Intn(3) == 0 {
		l.Do("DELETE", path+"?propagationPolicy=Background", nil) // pods with grace, too
	}
	if l.Do("GET", path, nil).Code == http.StatusNotFound {
		return false
	}
	return l.unlink(u.GetName())
}

// link gives an object, or a patch, owners and finalizers.
func (l *linked) link(u *unstructured.Unstructured) {
	var refs []metav1.OwnerReference
	for i := range l.r.Intn(4) {
		block := l.r.Intn(2) == 0
		uid := types.UID(fmt.Sprint("u", 4*i+l.r.Intn(4)))
		refs = append(refs, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: fmt.Sprint("o", i), UID: uid, BlockOwnerDeletion: &block,
		})
	}
	u.SetOwnerReferences(refs)
	var finalizers []string
	for i := range l.r.Intn(4) {
		finalizers = append(finalizers, fmt.Sprint("example.com/", i))
	}
	if l.r.Intn(2) == 0 {
		finalizers = append(finalizers, "orphan")
	}
	u.SetFinalizers(finalizers)
}

// patch writes it a few times, as other field managers, in other ways, and through its status. Kinds reject some of
// these.
func (l *linked) patch(path string, u *unstructured.Unstructured) {
	for n := range l.r.Intn(4) {
		p := &unstructured.Unstructured{Object: map[string]any{}}
		l.link(p)
		p.SetLabels(map[string]string{"l": fmt.Sprint(l.r.Intn(4))})
		at := path
		if l.res.Subresource("status") != nil && l.r.Intn(2) == 0 {
			at += "/status"
		}
		at += fmt.Sprint("?fieldManager=m", n)
		form := []string{
			"application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml",
		}[l.r.Intn(3)]
		if strings.Contains(form, "apply") {
			at += "&force=true"
			p.SetAPIVersion(u.GetAPIVersion())
			p.SetKind(u.GetKind())
			p.SetName(u.GetName())
		}
		l.Do("PATCH", at, p.Object, "Content-Type", form)
	}
}

// unlink removes half of the owners and finalizers and compares the two transactions.
func (l *linked) unlink(name string) bool {
	p := registry.Path{Resource: l.Types.Collection(l.res.Collection), Name: name}
	if l.res.Namespaced {
		p.Namespace = metav1.NamespaceDefault
	}
	seed := l.r.Int63()
	l.store.reject, l.store.seen = true, nil
	_, err := l.API.Loopback(authentication.ServiceAccount("kube-system", "generic-garbage-collector"), "kube-controller-manager").
		Link(l.t.Context(), p, func(m metav1.Object) error {
			r := rand.New(rand.NewSource(seed)) // it is called once for each way
			m.SetOwnerReferences(slices.DeleteFunc(slices.Clone(m.GetOwnerReferences()), func(metav1.OwnerReference) bool {
				return r.Intn(2) == 0
			}))
			m.SetFinalizers(slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(string) bool { return r.Intn(2) == 0 }))
			return nil
		})
	l.store.reject = false
	seen := l.store.seen
	if err != nil || len(seen) != 2 {
		return false // nothing to remove, the last finalizer of a terminating object, or no managedFields
	}
	fast, full := seen[0], seen[1]
	if managed := `"managedFields":`; strings.Contains(string(fast.Value), managed) &&
		!strings.Contains(string(full.Value), managed) {
		return false // both are updates: an object that is too large is stored without managedFields
	}
	if d := cmp.Diff(string(full.Value), string(fast.Value)); d != "" {
		l.t.Errorf("%s (-update +unlink):\n%s", l.res.Plural, d)
	}
	fast.Value, full.Value = nil, nil
	if d := cmp.Diff(full, fast); d != "" {
		l.t.Errorf("%s: the transaction (-update +unlink):\n%s", l.res.Plural, d)
	}
	return true
}

// remove removes it with all its finalizers.
func (l *linked) remove(path string) {
	l.Do("DELETE", path+"?gracePeriodSeconds=0&propagationPolicy=Background", nil)
	if l.res.Plural == "namespaces" {
		o := l.Do("GET", path, nil).Object()
		unstructured.RemoveNestedField(o.Object, "spec", "finalizers")
		l.Do("PUT", path+"/finalize", o.Object)
	}
	l.Do(
		"PATCH", path, map[string]any{"metadata": map[string]any{"finalizers": nil}}, "Content-Type",
		"application/merge-patch+json",
	)
	if a := l.Do("GET", path, nil); a.Code != http.StatusNotFound {
		l.t.Fatalf("it is still there: %s", a.Body)
	}
}

// TestLinkInPlace: a field manager that changes a reference in place, and doesn't only remove others, owns the changed
// fields.
func TestLinkInPlace(t *testing.T) {
	s := apiservertest.Start(t, nil)
	api := s.API.Loopback(
		authentication.ServiceAccount("kube-system", "generic-garbage-collector"), "kube-controller-manager",
	)
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
