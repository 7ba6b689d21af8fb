package custom

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// conversion turns objects of any version into those of another one. It may change and return them.
type conversion interface {
	convert(objs []*unstructured.Unstructured, apiVersion string) ([]*unstructured.Unstructured, error)
}

// conversionOf is what the definition's strategy asks for.
func conversionOf(d *apiextensionsv1.CustomResourceDefinition) conversion {
	if c := d.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter && c.Webhook != nil {
		return newWebhook(c.Webhook)
	}
	return renaming{}
}

// renaming is the strategy None: versions differ in their name.
type renaming struct{}

func (renaming) convert(objs []*unstructured.Unstructured, apiVersion string) ([]*unstructured.Unstructured, error) {
	for _, u := range objs {
		u.SetAPIVersion(apiVersion)
	}
	return objs, nil
}

// mostConverted bounds how many objects are converted at once. A webhook has webhookTimeout for them, and is
// expected to take 4 ms for one (AX pkg/apiserver/conversion/webhook_converter.go: Convert).
const mostConverted = 500

// convert returns objects in a version, as its schema has them. Those of other versions are converted in
// batches, and may be changed and returned.
func (s schemes) convert(objs []runtime.Object, to *version) ([]runtime.Object, error) {
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
		converted, err := s.conversion.convert(batch, to.apiVersion)
		if err != nil {
			return nil, &resources.ConversionError{Err: err}
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

// converter returns convert for one object, which it leaves as it is.
func (s schemes) converter(to *version) func(runtime.Object) (runtime.Object, error) {
	return func(obj runtime.Object) (runtime.Object, error) {
		if u := obj.(*unstructured.Unstructured); u.GetAPIVersion() != to.apiVersion {
			obj = u.DeepCopy()
		}
		out, err := s.convert([]runtime.Object{obj}, to)
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
}
