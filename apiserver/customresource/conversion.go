package customresource

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
)

// conversion converts objects of any version to another one. It may change and return them.
type conversion interface {
	convert(
		ctx context.Context, objs []*unstructured.Unstructured, apiVersion string,
	) ([]*unstructured.Unstructured, error)
}

// conversionOf returns the conversion for the strategy of the CustomResourceDefinition.
func conversionOf(d *apiextensionsv1.CustomResourceDefinition, clients *webhook.Clients) conversion {
	if c := d.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter && c.Webhook != nil {
		return &webhookConversion{c.Webhook, clients}
	}
	return renaming{}
}

// renaming is the strategy None: only the apiVersion changes.
type renaming struct{}

func (renaming) convert(
	_ context.Context, objs []*unstructured.Unstructured, apiVersion string,
) ([]*unstructured.Unstructured, error) {
	for _, u := range objs {
		u.SetAPIVersion(apiVersion)
	}
	return objs, nil
}

// mostConverted is the maximum number of objects in one conversion. A webhook has webhookTimeout for them, which allows
// for more than 4 ms per object (AX pkg/apiserver/conversion/webhook_converter.go: Convert).
const mostConverted = 500

// convert returns objects in a version, in the form that its schema requires. Those of other versions are converted in
// batches, and may be changed and returned.
func (s schemes) convert(ctx context.Context, objs []runtime.Object, to *version) ([]runtime.Object, error) {
	out := make([]runtime.Object, len(objs))
	var others []*unstructured.Unstructured
	var places []int
	for i, obj := range objs {
		out[i] = obj
		if u := obj.(*unstructured.Unstructured); u.GetAPIVersion() != to.apiVersion {
			others, places = append(others, u), append(places, i)
		}
	}
	for batch := range slices.Chunk(others, mostConverted) {
		converted, err := s.conversion.convert(ctx, batch, to.apiVersion)
		if err != nil {
			return nil, unconverted(ctx, err)
		}
		for i, u := range converted {
			if _, err := to.coerce(u, false); err != nil { // AX pkg/apiserver/customresource_handler.go: schemaCoercingConverter
				return nil, &resources.ConversionError{Err: err}
			}
			out[places[i]] = u
		}
		places = places[len(batch):]
	}
	return out, nil
}

// change returns an object in any version of the CustomResourceDefinition, served or not. No schema is applied, so
// nothing is pruned. It does not change the object (AX pkg/apiserver/conversion/converter.go: safeConverterWrapper,
// crConverter).
func (s schemes) change(
	ctx context.Context, obj runtime.Object, gv runtimeschema.GroupVersion,
) (runtime.Object, error) {
	u, to := obj.(*unstructured.Unstructured), gv.String()
	switch {
	case s.version(to) == nil:
		return nil, &resources.ConversionError{Err: fmt.Errorf("request to convert CR to an invalid group/version: %s", to)}
	case s.version(u.GetAPIVersion()) == nil:
		return nil, invalidVersion(u)
	}
	u = u.DeepCopy()
	if u.GetAPIVersion() == to {
		return u, nil
	}
	out, err := s.conversion.convert(ctx, []*unstructured.Unstructured{u}, to)
	if err != nil {
		return nil, unconverted(ctx, err)
	}
	return out[0], nil
}

// unconverted is the error of a conversion. A request that has ended gets the reason for that, as if it had
// ended anywhere else: upstream's conversions end only by their own timeout, and its filter for timeouts answers such a
// request before (AS pkg/server/filters/timeout.go).
func unconverted(ctx context.Context, err error) error {
	return &resources.ConversionError{Err: err, Ended: ctx.Err()}
}

// invalidVersion is the error for an object in a version that the CustomResourceDefinition does not have.
func invalidVersion(u *unstructured.Unstructured) error {
	return &resources.ConversionError{
		Err: fmt.Errorf("request to convert CR from an invalid group/version: %s", u.GetAPIVersion()),
	}
}

// converter returns convert for one object, which it does not change.
func (s schemes) converter(ctx context.Context, to *version) func(runtime.Object) (runtime.Object, error) {
	return func(obj runtime.Object) (runtime.Object, error) {
		if u := obj.(*unstructured.Unstructured); u.GetAPIVersion() != to.apiVersion {
			obj = u.DeepCopy()
		}
		out, err := s.convert(ctx, []runtime.Object{obj}, to)
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
}
