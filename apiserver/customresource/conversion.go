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

// conversion converts objects of any version to another one. It may modify and return them.
type conversion interface {
	convert(
		ctx context.Context, objs []*unstructured.Unstructured, apiVersion string,
	) ([]*unstructured.Unstructured, error)
}

// conversionOf returns the conversion for the strategy of the CRD.
func conversionOf(d *apiextensionsv1.CustomResourceDefinition, clients *webhook.Clients) conversion {
	if c := d.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter && c.Webhook != nil {
		return &webhookConversion{c.Webhook, clients}
	}
	return renaming{}
}

// renaming is the strategy None, which only changes the apiVersion.
type renaming struct{}

func (renaming) convert(
	_ context.Context, objs []*unstructured.Unstructured, apiVersion string,
) ([]*unstructured.Unstructured, error) {
	for _, u := range objs {
		u.SetAPIVersion(apiVersion)
	}
	return objs, nil
}

// maxConverted is the maximum number of objects in one conversion. A webhook may take webhookTimeout for them, which
// is more than 4 ms for each object (AX pkg/apiserver/conversion/webhook_converter.go: Convert).
const maxConverted = 500

// convert returns objects in a version, in the form that its schema requires. It converts objects of other versions in
// batches, and may modify and return them.
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
	for batch := range slices.Chunk(others, maxConverted) {
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

// change returns an object in any version of the CRD, served or not. It applies no schema, so it prunes nothing. It
// does not modify the object (AX pkg/apiserver/conversion/converter.go: safeConverterWrapper, crConverter).
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

// unconverted returns the error of a conversion. If the request has ended, the error has the reason for that, because
// upstream's timeout filter has already responded to such a request (AS pkg/server/filters/timeout.go), and its
// conversions end only by their own timeout.
func unconverted(ctx context.Context, err error) error {
	return &resources.ConversionError{Err: err, Ended: ctx.Err()}
}

// invalidVersion returns the error for an object in a version that the CRD does not have.
func invalidVersion(u *unstructured.Unstructured) error {
	return &resources.ConversionError{
		Err: fmt.Errorf("request to convert CR from an invalid group/version: %s", u.GetAPIVersion()),
	}
}

// converter returns a function that converts one object, which it does not modify.
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
