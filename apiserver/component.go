package apiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/storage"
)

// components are the objects of componentstatuses, made up when asked for.
func (s *Server) components(ctx context.Context) ([]*storage.Object, error) {
	c := s.componentStatus(ctx)
	data, err := json.Marshal(&c)
	if err != nil {
		return nil, err
	}
	return []*storage.Object{{JSON: data, Meta: storage.Meta{Kind: c.Kind, APIVersion: c.APIVersion, Name: c.Name}}}, nil
}

// selectedComponents are those that a list asks for.
func (s *Server) selectedComponents(ctx context.Context, t registry.Target, o *metainternal.ListOptions) ([]*storage.Object, error) {
	sel, err := s.registry.SelectionOf(t, o)
	if err != nil {
		return nil, err
	}
	items, err := s.components(ctx)
	return slices.DeleteFunc(items, func(o *storage.Object) bool { return !sel.Matches(o) }), err
}

// componentStatus is the health of the one component that is apart from the server itself.
func (s *Server) componentStatus(ctx context.Context) corev1.ComponentStatus {
	c := corev1.ComponentStatus{
		TypeMeta:   metav1.TypeMeta{Kind: "ComponentStatus", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: "etcd-0"},
		Conditions: []corev1.ComponentCondition{{Type: corev1.ComponentHealthy, Status: corev1.ConditionTrue, Message: "ok"}},
	}
	if _, err := s.registry.Store.Revision(ctx); err != nil {
		c.Conditions[0] = corev1.ComponentCondition{Type: corev1.ComponentHealthy, Status: corev1.ConditionFalse, Error: err.Error()}
	}
	return c
}

// getVirtual is GET of one of them.
func (s *Server) getVirtual(q *request, x *render.Rendering) error {
	items, err := s.components(q.r.Context())
	if err != nil {
		return err
	}
	for _, o := range items {
		if o.Meta.Name == q.Name {
			return q.answer(x, http.StatusOK, o)
		}
	}
	//lint:ignore ST1005 it is what clients see (0-10)
	return fmt.Errorf("Component not found: %s", q.Name)
}
