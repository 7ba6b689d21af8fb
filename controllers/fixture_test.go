package controllers

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestObjectsOfNamespacesAreRestored: active namespaces get the object. Only what contradicts it is reverted.
func TestObjectsOfNamespacesAreRestored(t *testing.T) {
	w := workloadtest.New()
	ns := func(name string) workload.Key {
		w.Put(namespaceOf(name))
		return workload.Key{Name: name}
	}
	pass := func(c workload.Controller, key workload.Key, want string) {
		t.Helper()
		if got := w.Pass(c, key); got != want {
			t.Errorf("%v: %q, want %q", key, got, want)
		}
	}
	accounts, certificates := defaultAccounts(), rootCertificates("PEM")
	pass(accounts, ns("a"), "  create ServiceAccount default\n")
	pass(accounts, ns("a"), "")
	pass(accounts, workload.Key{Name: "none"}, "")
	pass(certificates, ns("a"), "  create ConfigMap kube-root-ca.crt\n")
	get := func() *corev1.ConfigMap {
		return workload.Get[*corev1.ConfigMap](w, "a", "kube-root-ca.crt").DeepCopy()
	}
	m := get()
	if m.Data["ca.crt"] != "PEM" || m.Annotations[description] != certificatePurpose {
		t.Errorf("it is made as %+v", m)
	}
	m.Data, m.Labels = map[string]string{"ca.crt": "PEM", "more": "x"}, map[string]string{"mine": "y"}
	m.Annotations[description] = "my own"
	w.Put(m)
	pass(certificates, ns("a"), "  update ConfigMap kube-root-ca.crt\n")
	if m = get(); m.Labels["mine"] != "y" || len(m.Data) != 1 || m.Annotations[description] != certificatePurpose {
		t.Errorf("it is corrected to %+v", m)
	}
	m.Annotations[description] = "my own"
	w.Put(m)
	pass(certificates, ns("a"), "")
	m.Annotations = nil
	w.Put(m)
	pass(certificates, ns("a"), "  update ConfigMap kube-root-ca.crt\n")

	dying := namespaceOf("dying")
	dying.DeletionTimestamp, dying.Finalizers = new(metav1.NewTime(w.Now)), []string{"x"}
	w.Put(dying)
	pass(accounts, workload.Key{Name: "dying"}, "")
}

// mistyped is a World without its objects of a name, which can't be decoded.
type mistyped struct {
	*workloadtest.World
	name string
	err  error
}

func (m mistyped) Get(r workload.Resource, namespace, name string) workload.Object {
	if name == m.name {
		return nil
	}
	return m.World.Get(r, namespace, name)
}

func (m mistyped) Err(_ workload.Resource, _, name string) error {
	if name == m.name {
		return m.err
	}
	return nil
}

// TestFixtureOfMistyped: an object that can't be decoded is an error, and another one of its resource isn't.
func TestFixtureOfMistyped(t *testing.T) {
	w := workloadtest.New()
	ns := namespaceOf("n")
	w.Put(ns)
	for _, name := range []string{"kube-root-ca.crt", "other"} {
		r := mistyped{w, name, errors.New("mistyped")}
		v := workload.View{Reader: r, Key: workload.KeyOf(ns), Object: ns}
		plan := rootCertificates("PEM").Decide(v, w.Now)
		if own := name == "kube-root-ca.crt"; own != errors.Is(plan.Err, r.err) || own != (len(plan.Do) == 0) {
			t.Errorf("%s can't be decoded: %+v", name, plan)
		}
	}
}

// TestFixtureWakes: passes follow new namespaces, and changes of the fixture's own object.
func TestFixtureWakes(t *testing.T) {
	c := rootCertificates("PEM")
	in := func(namespace, name string) *workload.Meta {
		return &workload.Meta{Key: workload.Key{Namespace: namespace, Name: name}, UID: "u"}
	}
	terminating := in("", "n")
	terminating.Deleting = true
	const own = "kube-root-ca.crt"
	for _, x := range []struct {
		change workload.Change
		want   []workload.Key
	}{
		{workload.Change{Resource: workload.Namespaces, New: in("", "n")}, []workload.Key{{Name: "n"}}},
		{workload.Change{Resource: workload.Namespaces, Old: in("", "n"), New: in("", "n")}, nil},
		{workload.Change{Resource: workload.Namespaces, New: terminating}, nil},
		{workload.Change{Resource: workload.Namespaces, Old: terminating}, nil},
		{workload.Change{Resource: workload.ConfigMaps, New: in("n", own)}, nil},
		{workload.Change{Resource: workload.ConfigMaps, Old: in("n", own), New: in("n", own)},
			[]workload.Key{{Name: "n"}}},
		{workload.Change{Resource: workload.ConfigMaps, Old: in("n", own)}, []workload.Key{{Name: "n"}}},
		{workload.Change{Resource: workload.ConfigMaps, Old: in("n", "other")}, nil},
	} {
		if diff := cmp.Diff(x.want, c.Wake(nil, x.change)); diff != "" {
			t.Errorf("%+v: %s", x.change, diff)
		}
	}
}
