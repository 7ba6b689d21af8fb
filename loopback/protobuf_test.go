package loopback_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// binary returns an object in kube-apiserver's protobuf storage format.
func binary(t *testing.T, obj runtime.Object) string {
	t.Helper()
	var b bytes.Buffer
	if err := protobuf.NewSerializer(resources.Scheme(), resources.Scheme()).Encode(obj, &b); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "k8s\x00") {
		t.Fatalf("it isn't the storage format: %q", b.String()[:8])
	}
	return b.String()
}

func metaOf(namespace, name string, owners ...metav1.OwnerReference) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + namespace + "-" + name),
		Labels:            map[string]string{"name": name},
		CreationTimestamp: metav1.Unix(1714557600, 0), OwnerReferences: owners}
}

func boundMap(t *testing.T, namespace, name string, owners ...metav1.OwnerReference) string {
	return binary(t, &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		ObjectMeta: metaOf(namespace, name, owners...),
		Data:       map[string]string{"k": "v"}, BinaryData: map[string][]byte{"b": {0, 255}}})
}

// TestBinaryValues: objects that kube-apiserver has stored in protobuf are read, listed, watched, changed and deleted
// like others; each write stores JSON.
func TestBinaryValues(t *testing.T) {
	s := apiservertest.Start(t, nil)
	w := s.Watch(configMaps + "?watch=1&resourceVersion=" + s.Do("GET", configMaps, nil).List().GetResourceVersion())
	event := func(typ, name string) {
		t.Helper()
		e, err := w.Next()
		if err != nil || e.Type != typ || e.Object.GetName() != name {
			t.Fatalf("%s %s, %v; want %s %s", e.Type, e.Object.GetName(), err, typ, name)
		}
	}
	names := []string{"get", "put", "patch", "apply", "delete", "many"}
	for _, name := range names {
		s.Put(t, "/registry/configmaps/default/"+name, boundMap(t, "default", name))
		event("ADDED", name)
	}
	s.Put(t, "/registry/deployments/default/d", binary(t, &appsv1.Deployment{TypeMeta: metav1.TypeMeta{
		Kind: "Deployment", APIVersion: "apps/v1",
	}, ObjectMeta: metaOf("default", "d"),
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}))
	if got := s.Do("GET", configMaps+"?labelSelector=name%20in%20(get,put)&limit=1", nil); len(got.List().Items) != 1 ||
		got.List().GetContinue() == "" {
		t.Errorf("listed: %s", got.Body)
	}
	for _, accept := range []string{
		"application/json", "application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v1;g=meta.k8s.io",
		"application/yaml",
	} {
		for _, path := range []string{configMaps, configMaps + "/get", "/apis/apps/v1/namespaces/default/deployments/d"} {
			do(t, s, "GET", path, "", "Accept", accept)
		}
	}
	o := s.Do("GET", configMaps+"/put", nil).Object()
	if o.Object["data"].(map[string]any)["k"] != "v" || o.Object["binaryData"].(map[string]any)["b"] != "AP8=" ||
		o.GetUID() != "uid-default-put" || o.GetResourceVersion() == "" {
		t.Errorf("read: %v", o.Object)
	}
	o.SetLabels(map[string]string{"changed": "yes"})
	body, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	do(t, s, "PUT", configMaps+"/put", string(body))
	event("MODIFIED", "put")
	do(t, s, "PATCH", configMaps+"/patch", `{"data":{"l":"w"}}`)
	event("MODIFIED", "patch")
	if got := fmt.Sprint(s.Do("GET", configMaps+"/patch", nil).Object().Object["data"]); got != "map[k:v l:w]" {
		t.Errorf("patched: %s", got)
	}
	do(t, s, "PATCH", configMaps+"/apply?fieldManager=m",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"apply"},"data":{"l":"w"}}`, apply...)
	event("MODIFIED", "apply")
	do(t, s, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", `{"spec":{"replicas":3}}`)
	for _, key := range []string{
		"configmaps/default/put", "configmaps/default/patch", "configmaps/default/apply", "deployments/default/d",
	} {
		if r, err := s.Store.Get(t.Context(), "/registry/"+key); err != nil || !bytes.HasPrefix(r.Value, []byte(`{"kind":`)) {
			t.Errorf("%s is stored as %.20q, %v", key, r.Value, err)
		}
	}
	do(t, s, "DELETE", configMaps+"/delete", `{"preconditions":{"uid":"uid-default-delete"}}`)
	event("DELETED", "delete")
	do(t, s, "DELETE", configMaps+"?labelSelector=name%3Dmany", "")
	event("DELETED", "many")
}

// TestBinaryCascades: owners and dependents in protobuf are collected, and a namespace of them is emptied.
func TestBinaryCascades(t *testing.T) {
	s := apiservertest.Start(t, nil)
	collect(t, s)
	starts(t, s, "namespace-controller")
	s.Put(t, "/registry/configmaps/default/owner", boundMap(t, "default", "owner"))
	ref := metav1.OwnerReference{
		APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "uid-default-owner", BlockOwnerDeletion: new(true),
	}
	s.Put(t, "/registry/configmaps/default/dependent", boundMap(t, "default", "dependent", ref))
	s.Put(t, "/registry/configmaps/default/orphan", boundMap(
		t, "default", "orphan", metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "none", UID: "none"}))
	until(t, s, configMaps+"/orphan", missing)
	do(t, s, "DELETE", configMaps+"/owner", `{"propagationPolicy":"Foreground"}`)
	until(t, s, configMaps+"/owner", missing)
	until(t, s, configMaps+"/dependent", missing)

	s.Put(t, "/registry/configmaps/default/second", boundMap(t, "default", "second"))
	kept := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "second", UID: "uid-default-second"}
	s.Put(t, "/registry/configmaps/default/stays", boundMap(t, "default", "stays", kept))
	do(t, s, "DELETE", configMaps+"/second", `{"propagationPolicy":"Orphan"}`)
	until(t, s, configMaps+"/second", missing)
	if got := owners(t, s, configMaps+"/stays"); len(got) != 0 {
		t.Errorf("it has owners: %v", got)
	}

	s.Put(t, "/registry/namespaces/n", binary(t, &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{Kind: "Namespace", APIVersion: "v1"}, ObjectMeta: metaOf("", "n"),
		Spec:   corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}}))
	s.Put(t, "/registry/configmaps/n/a", boundMap(t, "n", "a"))
	create(t, s, "/api/v1/namespaces/n/secrets", "b", nil, nil)
	do(t, s, "DELETE", "/api/v1/namespaces/n", "")
	until(t, s, "/api/v1/namespaces/n", missing)
	expect(t, s.Do("GET", "/api/v1/namespaces/n/configmaps/a", nil), http.StatusNotFound)
}
