package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// inJSON makes a client that asks for JSON, and sends it, where the default is protobuf.
func inJSON(k kind) kind {
	return func(config *rest.Config, ns string) (*objects, error) {
		own := *config
		own.ContentType = runtime.ContentTypeJSON
		return k(&own, ns)
	}
}

// dynamicConfigMaps are config maps, by the dynamic client.
func dynamicConfigMaps(config *rest.Config, ns string) (*objects, error) {
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	object := func(m metav1.ObjectMeta, data map[string]string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		o.SetName(m.Name)
		o.SetGenerateName(m.GenerateName)
		o.SetAnnotations(m.Annotations)
		setData(o, data)
		return o
	}
	return through(untyped{c.Resource(configMaps).Namespace(ns)}, shape[*unstructured.Unstructured,
		*unstructured.Unstructured]{object, setData, func(name string, data map[string]string) *unstructured.Unstructured {
		return object(metav1.ObjectMeta{Name: name}, data)
	}}), nil
}

func setData(o *unstructured.Unstructured, data map[string]string) {
	values := make(map[string]any, len(data))
	for k, v := range data {
		values[k] = v
	}
	o.Object["data"] = values
}

// untyped has the signatures of a clientset for the dynamic client.
type untyped struct{ dynamic.ResourceInterface }

func (u untyped) Create(
	ctx context.Context, o *unstructured.Unstructured, opts metav1.CreateOptions,
) (*unstructured.Unstructured, error) {
	return u.ResourceInterface.Create(ctx, o, opts)
}

func (u untyped) Get(ctx context.Context, name string, opts metav1.GetOptions) (*unstructured.Unstructured, error) {
	return u.ResourceInterface.Get(ctx, name, opts)
}

func (u untyped) Update(
	ctx context.Context, o *unstructured.Unstructured, opts metav1.UpdateOptions,
) (*unstructured.Unstructured, error) {
	return u.ResourceInterface.Update(ctx, o, opts)
}

func (u untyped) Apply(
	ctx context.Context, o *unstructured.Unstructured, opts metav1.ApplyOptions,
) (*unstructured.Unstructured, error) {
	return u.ResourceInterface.Apply(ctx, o.GetName(), o, opts)
}

func (u untyped) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return u.ResourceInterface.Delete(ctx, name, opts)
}

// metadataConfigMaps are config maps, by the metadata client, which can only patch and delete them. The typed client
// makes them.
func metadataConfigMaps(config *rest.Config, ns string) (*objects, error) {
	o, err := typedConfigMaps(config, ns)
	if err != nil {
		return nil, err
	}
	all, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := all.Resource(configMaps).Namespace(ns)
	o.patch = func(ctx context.Context, name string) error {
		_, err := c.Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"k":"w"}}}`),
			metav1.PatchOptions{})
		return err
	}
	o.discard = func(ctx context.Context, name string) error { return c.Delete(ctx, name, metav1.DeleteOptions{}) }
	return o, nil
}
