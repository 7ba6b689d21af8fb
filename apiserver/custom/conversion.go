package custom

import (
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

// convert returns objects in a version, as its schema has them. Those of other versions are copied, and
// converted all at once.
func (s schemes) convert(objs []runtime.Object, to *version) ([]runtime.Object, error) {
	out := make([]runtime.Object, len(objs))
	var others []*unstructured.Unstructured
	var places []int
	for i, obj := range objs {
		out[i] = obj
		if u := obj.(*unstructured.Unstructured); u.GetAPIVersion() != to.apiVersion {
			others, places = append(others, u.DeepCopy()), append(places, i)
		}
	}
	if len(others) == 0 {
		return out, nil
	}
	converted, err := s.conversion.convert(others, to.apiVersion)
	if err != nil {
		return nil, &resources.ConversionError{Err: err}
	}
	for i, u := range converted {
		if _, err := to.coerce(u, true); err != nil {
			return nil, err
		}
		out[places[i]] = u
	}
	return out, nil
}

// converter returns convert for one object.
func (s schemes) converter(to *version) func(runtime.Object) (runtime.Object, error) {
	return func(obj runtime.Object) (runtime.Object, error) {
		out, err := s.convert([]runtime.Object{obj}, to)
		if err != nil {
			return nil, err
		}
		return out[0], nil
	}
}
