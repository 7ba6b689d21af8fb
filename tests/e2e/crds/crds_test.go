package crds

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	plain = "application/json"
	apply = "application/apply-patch+yaml"

	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	configMaps  = "/api/v1/namespaces/default/configmaps"
)

// TestObjectsOfProjectsLive: definitions are established, and an object of each kind and version is created, applied,
// explained and deleted in a cascade.
func TestObjectsOfProjectsLive(t *testing.T) {
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) {
			all := p.definitions(t)
			s := start(t)
			for _, d := range all {
				s.do("POST", definitions, d, plain)
			}
			for _, d := range all {
				s.await(definitions, d.Name, established)
			}
			for _, d := range all {
				for i := range d.Spec.Versions {
					if v := &d.Spec.Versions[i]; v.Served {
						t.Run(v.Name+"."+d.Name, func(t *testing.T) {
							on := *s
							on.t = t
							on.live(d, v, p.objects[d.Spec.Names.Kind])
						})
					}
				}
			}
			for _, d := range all {
				s.do("DELETE", definitions+"/"+d.Name, nil, plain)
			}
			for _, d := range all {
				s.await(definitions, d.Name, gone)
			}
		})
	}
}

func established(_ string, u *unstructured.Unstructured) bool {
	d := &apiextensionsv1.CustomResourceDefinition{}
	if u == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d) != nil {
		return false
	}
	for _, c := range d.Status.Conditions {
		if c.Type == apiextensionsv1.Established {
			return c.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

func gone(event string, _ *unstructured.Unstructured) bool { return event == "DELETED" }

// live creates, applies, explains and deletes one object. A config map or a storage class owns it, and it owns a config
// map.
func (s *server) live(
	d *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion, more string,
) {
	s.t.Helper()
	path := "/apis/" + d.Spec.Group + "/" + v.Name
	if d.Spec.Scope == apiextensionsv1.NamespaceScoped {
		path += "/namespaces/default"
	}
	path += "/" + d.Spec.Names.Plural
	content := minimal(v.Schema.OpenAPIV3Schema, 0).(map[string]any)
	if more != "" {
		content = merged(s.t, content, more)
	}
	name := d.Spec.Names.Plural + "-" + v.Name
	one := &unstructured.Unstructured{Object: content}
	one.SetAPIVersion(d.Spec.Group + "/" + v.Name)
	one.SetKind(d.Spec.Names.Kind)
	one.SetName(name)

	// A cluster-scoped object can't have a namespaced owner.
	owners := configMaps
	root := map[string]any{"metadata": map[string]any{"name": name}}
	if d.Spec.Scope != apiextensionsv1.NamespaceScoped {
		owners, root["provisioner"] = "/apis/storage.k8s.io/v1/storageclasses", "example.com/none"
	}
	owner := s.do("POST", owners, root, plain)
	one.SetOwnerReferences([]metav1.OwnerReference{reference(owner)})
	created := s.do("POST", path, one.Object, plain)
	// An apply of the same content changes only the managedFields.
	applied := s.do("PATCH", path+"/"+name+"?fieldManager=tests&force=true", one.Object, apply)
	if applied.GetUID() != created.GetUID() || applied.GetGeneration() != created.GetGeneration() {
		s.t.Errorf("applying it changed it: %v", applied.Object)
	}
	leaf := &unstructured.Unstructured{Object: map[string]any{}}
	leaf.SetName(name + "-leaf")
	leaf.SetOwnerReferences([]metav1.OwnerReference{reference(created)})
	s.do("POST", configMaps, leaf.Object, plain)

	s.explain(d, v)

	s.do("DELETE", owners+"/"+name+"?propagationPolicy=Foreground", nil, plain)
	s.await(owners, name, gone)
	s.await(path, name, gone)
	s.await(configMaps, name+"-leaf", gone)
}

func reference(u *unstructured.Unstructured) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Name: u.GetName(), UID: u.GetUID(), BlockOwnerDeletion: &yes,
	}
}

// explain checks kubectl's documentation of the kind.
func (s *server) explain(
	d *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion,
) {
	s.t.Helper()
	cmd := exec.Command(
		kubectl, "--kubeconfig", s.Kubeconfig, "explain", d.Spec.Names.Plural, "--api-version", d.Spec.Group+"/"+v.Name)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Errorf("kubectl explain: %v\n%s", err, out)
		return
	}
	for name := range v.Schema.OpenAPIV3Schema.Properties {
		if !strings.Contains(string(out), "\n  "+name+"\t") {
			s.t.Errorf("%s isn't explained:\n%s", name, out)
		}
	}
}

// merged applies a merge patch.
func merged(t *testing.T, content map[string]any, patch string) map[string]any {
	t.Helper()
	var p map[string]any
	if err := json.Unmarshal([]byte(patch), &p); err != nil {
		t.Fatal(err)
	}
	return mergeInto(content, p)
}

func mergeInto(to, patch map[string]any) map[string]any {
	for k, v := range patch {
		inner, both := v.(map[string]any)
		old, ok := to[k].(map[string]any)
		switch {
		case v == nil:
			delete(to, k)
		case both && ok:
			to[k] = mergeInto(old, inner)
		default:
			to[k] = v
		}
	}
	return to
}
