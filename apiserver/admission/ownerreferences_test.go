package admission_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// without has the users of G-11, and the permissions that each lacks: verb, resource/subresource.
var without = map[string][]string{
	"super":            nil,
	"non-deleter":      {"delete *"},
	"non-pod-deleter":  {"delete pods"},
	"non-rc-deleter":   {"update replicationcontrollers/finalizers", "update */finalizers"},
	"non-node-deleter": {"update nodes/finalizers", "update */finalizers"},
}

func decide(a *authorization.Attributes) authorization.Decision {
	full := a.Resource
	if a.Subresource != "" {
		full += "/" + a.Subresource
	}
	for _, not := range without[a.User.Name] {
		if not == a.Verb+" "+full || not == a.Verb+" *" {
			return authorization.Decision{}
		}
	}
	if a.Resource == "nodes" && a.Namespace != "" || a.Resource == "replicationcontrollers" && a.Namespace != "ns" {
		return authorization.Decision{} // asked in the wrong namespace
	}
	return authorization.Decision{Verdict: authorization.Allow}
}

// TestOwnerReferences is the matrix of G-11: users, owners before and after, and which requests are denied.
func TestOwnerReferences(t *testing.T) {
	table := resources.NewTable(resources.Builtin()...)
	p := &admission.OwnerReferences{Authorize: decide, Resources: func(k schema.GroupVersionKind) []*resources.Resource {
		if r := table.Kind(k); r != nil {
			return []*resources.Resource{r}
		}
		return nil
	}}
	yes, no := true, false
	ref := func(kind, uid string, block *bool) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: uid, UID: types.UID(uid), BlockOwnerDeletion: block}
	}
	rc, rcNo, rcBlocks, rc2Blocks := ref("ReplicationController", "1", nil), ref("ReplicationController", "1", &no), ref(
		"ReplicationController", "1", &yes), ref("ReplicationController", "2", &yes)
	node, nodeBlocks := ref("Node", "3", nil), ref("Node", "3", &yes)
	unknown := metav1.OwnerReference{APIVersion: "nothing.io/v1", Kind: "Nothing", UID: "4", BlockOwnerDeletion: &yes}
	malformed := metav1.OwnerReference{APIVersion: "a/b/c", Kind: "Nothing", UID: "5", BlockOwnerDeletion: &yes}
	type owners = []metav1.OwnerReference
	const podDeleters = "non-deleter non-pod-deleter"
	for _, c := range []struct {
		what     string
		create   bool
		sub      string
		was, now owners
		refused  string
	}{
		{"create without owners", true, "", nil, nil, ""},
		{"create with an owner", true, "", nil, owners{rc}, ""},
		{"create with owners that don't block", true, "", nil, owners{rcNo, node}, ""},
		{"create with a blocking owner", true, "", nil, owners{rcBlocks}, "non-rc-deleter"},
		{"create with a blocking node", true, "", nil, owners{nodeBlocks}, "non-node-deleter"},
		{"create with two blocking owners", true, "", nil, owners{rcBlocks, nodeBlocks}, "non-rc-deleter non-node-deleter"},
		{"create with an unknown blocking owner", true, "", nil, owners{unknown}, "non-rc-deleter non-node-deleter"},
		{"create with a malformed blocking owner", true, "", nil, owners{malformed}, "non-rc-deleter non-node-deleter"},
		{"no change", false, "", owners{rcBlocks}, owners{rcBlocks}, ""},
		{"an owner more", false, "", nil, owners{rc}, podDeleters},
		{"an owner less", false, "", owners{rcBlocks}, nil, podDeleters},
		{"another order", false, "", owners{rcBlocks, node}, owners{node, rcBlocks}, podDeleters},
		{"nil to blocking", false, "", owners{rc}, owners{rcBlocks}, podDeleters + " non-rc-deleter"},
		{"false to blocking", false, "", owners{rcNo}, owners{rcBlocks}, podDeleters + " non-rc-deleter"},
		{"blocking no more", false, "", owners{rcBlocks}, owners{rcNo}, podDeleters},
		{
			"a second blocking owner", false, "", owners{rcBlocks}, owners{rcBlocks, nodeBlocks},
			podDeleters + " non-node-deleter",
		},
		{"another blocking owner", false, "", owners{rcBlocks}, owners{rc2Blocks}, podDeleters + " non-rc-deleter"},
		{"a pod's status", false, "status", nil, owners{rcBlocks}, ""},
		{"another subresource", false, "ephemeralcontainers", nil, owners{rc}, "non-deleter"},
	} {
		for user := range without {
			pod := func(o owners) *corev1.Pod {
				return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", OwnerReferences: o}}
			}
			a := &admission.Attributes{Operation: admission.Update, Resource: table.Lookup("", "v1", "pods"), Subresource: c.sub,
				Namespace: "ns", Name: "p", Object: pod(c.now), Old: pod(c.was), User: authorization.User{Name: user}}
			if c.create {
				a.Operation, a.Old = admission.Create, nil
			}
			err := p.Validate(context.Background(), a)
			if want := slices.Contains(strings.Fields(c.refused), user); (err != nil) != want {
				t.Errorf("%s by %s: %v", c.what, user, err)
			}
		}
	}
	a := &admission.Attributes{
		Operation: admission.Create, Resource: table.Lookup("", "v1", "pods"),
		Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: owners{unknown}}},
		User:   authorization.User{Name: "non-rc-deleter"},
	}
	if got, want := fmt.Sprint(p.Validate(context.Background(), a)), `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion nothing.io/v1 Kind Nothing: no matches for kind "Nothing" in version "nothing.io/v1"`; got != want {
		t.Error(got)
	}
}
