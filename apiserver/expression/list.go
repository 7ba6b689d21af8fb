package expression

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
)

// list has compiled expressions that are evaluated together. They share a budget and the values of variables.
type list struct {
	// results are the compiled expressions. One without an accessor is a placeholder, which is not evaluated.
	results []plugincel.CompilationResult
	with    *composition // nil if the expressions may not use variables
}

// evaluate returns one result for each expression, and the rest of the budget. An error means that the budget is
// exhausted, or that the request has ended, which an expression itself checks only in its loops.
func (l *list) evaluate(
	ctx context.Context, v *Version, resource schema.GroupVersionResource, b Bindings, budget int64,
) ([]plugincel.EvaluationResult, int64, error) {
	err := ctx.Err()
	if err != nil {
		return nil, 0, internal("operation interrupted: " + err.Error())
	}
	if l.with != nil {
		if ctx, err = l.with.within(ctx); err != nil {
			return nil, 0, err
		}
	}
	request := plugincel.CreateAdmissionRequest(
		v.typed.Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(v.Kind),
	)
	namespace := b.Namespace
	if !b.whole {
		namespace = plugincel.CreateNamespaceObject(namespace)
	}
	return plugincel.NewCondition(l.results).ForInput(ctx, v.typed, request, b.optional(), namespace, budget)
}
