package loopback_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestObjectsWithOneUIDKeepTheirDependents: two objects with the same uid are written to etcd directly. The dependents
// of each are collected when that object is removed, and not earlier. An orphaning deletion of one of them after the
// removal of the other orphans its dependents.
func TestObjectsWithOneUIDKeepTheirDependents(t *testing.T) {
	s := apiservertest.Start(t, nil)
	collect(t, s)
	put := func(name string, owners ...metav1.OwnerReference) {
		s.Put(t, "/registry/configmaps/default/"+name, boundMap(t, "default", name, owners...))
	}
	of := func(name string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: "shared"}
	}
	for _, name := range []string{"a", "b"} {
		s.Put(t, "/registry/configmaps/default/"+name,
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"`+name+`","namespace":"default","uid":"shared"}}`)
	}
	put("of-a", of("a"))
	put("of-b", of("b"))
	settled := func() { // what has no owner is collected after all that came before it
		t.Helper()
		put("sentinel", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "none", UID: "none"})
		until(t, s, configMaps+"/sentinel", missing)
	}
	do(t, s, "DELETE", configMaps+"/b", `{"propagationPolicy":"Background"}`)
	until(t, s, configMaps+"/of-b", missing)
	settled()
	if got := owners(t, s, configMaps+"/of-a"); len(got) != 1 {
		t.Errorf("of-a has the owners %v", got)
	}
	do(t, s, "DELETE", configMaps+"/a", `{"propagationPolicy":"Orphan"}`)
	until(t, s, configMaps+"/a", missing)
	settled()
	if got := owners(t, s, configMaps+"/of-a"); len(got) != 0 {
		t.Errorf("of-a has the owners %v", got)
	}
}

// TestSharedUIDForeground: a foreground deletion of the one that was known first ends.
func TestSharedUIDForeground(t *testing.T) {
	s := apiservertest.Start(t, nil)
	collect(t, s)
	for _, name := range []string{"a", "b"} {
		s.Put(t, "/registry/configmaps/default/"+name,
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"`+name+`","namespace":"default","uid":"shared"}}`)
	}
	block := true
	s.Put(t, "/registry/configmaps/default/of-a", boundMap(
		t, "default", "of-a",
		metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "shared", BlockOwnerDeletion: &block},
	))
	do(t, s, "DELETE", configMaps+"/a", `{"propagationPolicy":"Foreground"}`)
	until(t, s, configMaps+"/of-a", missing)
	until(t, s, configMaps+"/a", missing)
	do(t, s, "GET", configMaps+"/b", "")
}
