package admission

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// TestOnlyCreationsNeedActiveNamespace: in a missing or terminating namespace, updates are admitted, so that finalizers
// can be removed there (V-106). Creations are rejected (B-72, B-73).
func TestOnlyCreationsNeedActiveNamespace(t *testing.T) {
	for state, denied := range map[NamespaceState]func(error) bool{
		NamespaceAbsent: apierrors.IsNotFound, NamespaceTerminating: apierrors.IsForbidden, NamespaceActive: nil,
	} {
		l := &Lifecycle{State: func(context.Context, string) (NamespaceState, error) { return state, nil }}
		for _, o := range []Operation{Create, Update, Delete, Connect} {
			err := l.Admit(t.Context(), &Attributes{
				Resource: &resources.Resource{Plural: "configmaps"}, Namespace: "a", Name: "b", Operation: o,
			})
			if o == Create && denied != nil {
				if !denied(err) {
					t.Errorf("state %d: a creation: %v", state, err)
				}
			} else if err != nil {
				t.Errorf("state %d, %s: %v", state, o, err)
			}
		}
	}
}
