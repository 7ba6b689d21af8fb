package main

import (
	"context"
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// objects are requests of a typed client for the objects of one kind in a namespace.
type objects struct {
	// create and update write this data; apply and patch always write the same.
	create                     func(ctx context.Context, meta metav1.ObjectMeta, data map[string]string) error
	update                     func(ctx context.Context, name string, data map[string]string) error
	get, patch, apply, discard func(ctx context.Context, name string) error
	// clear deletes all.
	clear func(ctx context.Context) error
	list  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error)
	watch func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
	// example is an object of the kind, for informers.
	example runtime.Object
}

// kind makes a client of the objects in a namespace.
type kind func(c *rest.Config, ns string) (*objects, error)

// apart returns the configuration for a client with a connection of its own: client-go shares one between clients of
// the same configuration.
func apart(c *rest.Config) *rest.Config {
	own := *c
	own.Dial = (&net.Dialer{}).DialContext
	return &own
}

// typedConfigMaps are config maps, by client-go's clientset.
func typedConfigMaps(config *rest.Config, ns string) (*objects, error) {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return through(c.CoreV1().ConfigMaps(ns), shape[*corev1.ConfigMap, *applycorev1.ConfigMapApplyConfiguration]{
		func(m metav1.ObjectMeta, data map[string]string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: m, Data: data}
		},
		func(o *corev1.ConfigMap, data map[string]string) { o.Data = data },
		func(name string, data map[string]string) *applycorev1.ConfigMapApplyConfiguration {
			return applycorev1.ConfigMap(name, ns).WithData(data)
		},
	}), nil
}

// clientset is what clientsets have for a kind.
type clientset[T, L runtime.Object, A any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Get(context.Context, string, metav1.GetOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
	Apply(context.Context, A, metav1.ApplyOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// shape makes the objects of a kind.
type shape[T, A any] struct {
	object  func(m metav1.ObjectMeta, data map[string]string) T
	set     func(o T, data map[string]string)
	applied func(name string, data map[string]string) A
}

// through are the requests by a client.
func through[T, L runtime.Object, A any](c clientset[T, L, A], s shape[T, A]) *objects {
	return &objects{
		create: func(ctx context.Context, m metav1.ObjectMeta, data map[string]string) error {
			_, err := c.Create(ctx, s.object(m, data), metav1.CreateOptions{})
			return err
		},
		get: func(ctx context.Context, name string) error {
			_, err := c.Get(ctx, name, metav1.GetOptions{})
			return err
		},
		update: func(ctx context.Context, name string, data map[string]string) error {
			o, err := c.Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				s.set(o, data)
				_, err = c.Update(ctx, o, metav1.UpdateOptions{})
			}
			return err
		},
		patch: func(ctx context.Context, name string) error {
			_, err := c.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"k":"w"}}`), metav1.PatchOptions{})
			return err
		},
		apply: func(ctx context.Context, name string) error {
			a := s.applied(name, map[string]string{"k2": "v"})
			_, err := c.Apply(ctx, a, metav1.ApplyOptions{FieldManager: "bench"})
			return err
		},
		discard: func(ctx context.Context, name string) error { return c.Delete(ctx, name, metav1.DeleteOptions{}) },
		clear: func(ctx context.Context) error {
			return c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		},
		list:    func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return c.List(ctx, o) },
		watch:   c.Watch,
		example: s.object(metav1.ObjectMeta{}, nil),
	}
}

// listed lists all objects.
func (o *objects) listed(ctx context.Context, n int) error {
	l, err := o.list(ctx, metav1.ListOptions{})
	return expect(l, n, err)
}
