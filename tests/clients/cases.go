package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
)

// workload is one case. run makes its own clients, so that each run has connections of its own.
type workload struct {
	name string
	run  func(ctx context.Context, s *server) (measured, error)
	// plain says that the plain handler can answer the case, too; writes that it writes; custom that it needs nothing
	// but custom resources, so that the peer can answer it.
	plain, writes, custom bool
}

// group has cases that are run on the same servers. prepare fills each server.
type group struct {
	prepare func(ctx context.Context, s *server) error
	cases   []workload
}

// The namespaces of the objects: values that compress well and badly.
const (
	repeated = "repeated"
	random   = "random"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func (b *bench) groups() []group {
	others := []workload{{name: "controller-runtime, a widget and 3 objects", run: reconciles}}
	if b.kubectl != "" {
		others = append(others, kubectls(b.kubectl)...)
	}
	return []group{
		{empty, singles()},
		{func(ctx context.Context, s *server) error { return fill(ctx, s, 2500) },
			slices.Concat(lists(), syncs(2500), storms())},
		{func(ctx context.Context, s *server) error { return fill(ctx, s, 10000) }, syncs(10000)},
		{func(ctx context.Context, s *server) error { return fillWith(ctx, s, 1000, configMaps) }, listsOf(1000)},
		{func(ctx context.Context, s *server) error { return fillWith(ctx, s, 10000, configMaps) }, listsOf(10000)},
		{func(ctx context.Context, s *server) error { return fillWith(ctx, s, 100000, configMaps) }, listsOf(100000)},
		{empty, []workload{
			{name: "fan-out to 20 informers, event", run: fanOut(typedConfigMaps, 20, 0), plain: true, writes: true},
			{name: "fan-out to 20 informers at 1000 writes/s, event", run: fanOut(typedConfigMaps, 20, 1000), plain: true,
				writes: true},
			{name: "fan-out to 20 informers, event of a custom resource", run: fanOut(typedWidgets, 20, 0), plain: true,
				writes: true, custom: true},
			{name: "fan-out to 100 informers, event", run: fanOut(typedConfigMaps, 100, 0), plain: true, writes: true},
		}},
		{empty, others},
	}
}

// lists are of 2,500 objects.
func lists() []workload {
	return []workload{
		{name: "list of 2500", run: timed(typedList(typedConfigMaps, repeated, 2500)), plain: true},
		{name: "list of 2500, random values", run: timed(typedList(typedConfigMaps, random, 2500)), plain: true},
		{name: "list of 2500, one changed before each", run: timed(changedList)},
		{name: "list of 2500, JSON", run: timed(typedList(inJSON(typedConfigMaps), repeated, 2500)), plain: true},
		{name: "list of 2500, JSON, random values", run: timed(typedList(inJSON(typedConfigMaps), random, 2500)),
			plain: true},
		{name: "list of 2500, dynamic client", run: timed(dynamicList(configMaps, repeated)), plain: true},
		{name: "list of 2500, dynamic client, random values", run: timed(dynamicList(configMaps, random)), plain: true},
		{name: "list of 2500, metadata client", run: timed(metadataList(configMaps)), plain: true},
		{name: "list of 2500 custom resources", run: timed(typedList(typedWidgets, repeated, 2500)), plain: true,
			custom: true},
		{name: "list of 2500 custom resources, random values", run: timed(typedList(typedWidgets, random, 2500)), plain: true,
			custom: true},
		{name: "list of 2500 custom resources, dynamic client", run: timed(dynamicList(widgets, repeated)), plain: true,
			custom: true},
		{name: "list of 2500 custom resources, dynamic client, random values", run: timed(dynamicList(widgets, random)),
			plain: true, custom: true},
		{name: "list of 2500 custom resources, metadata client", run: timed(metadataList(widgets)), plain: true,
			custom: true},
	}
}

// listsOf are of n objects, by clients that decode them.
func listsOf(n int) []workload {
	return []workload{
		{name: fmt.Sprintf("list of %d", n), run: timed(typedList(typedConfigMaps, repeated, n)), plain: true},
		{name: fmt.Sprintf("list of %d, random values", n), run: timed(typedList(typedConfigMaps, random, n)), plain: true},
	}
}

// value is a string of 1 KiB.
func value(ns string) string {
	if ns == repeated {
		return strings.Repeat("x", 1024)
	}
	b := make([]byte, 768)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return base64.StdEncoding.EncodeToString(b)
}

// namespace creates a namespace; the peer has none, and accepts objects in any.
func namespace(ctx context.Context, s *server, name string) error {
	if s.peer {
		return nil
	}
	c, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		return err
	}
	_, err = c.CoreV1().Namespaces().Create(
		ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

// empty makes a namespace and custom resources.
func empty(ctx context.Context, s *server) error {
	if err := namespace(ctx, s, random); err != nil {
		return err
	}
	return define(ctx, s)
}

// fill creates n custom resources in each namespace and, as the peer has none, n config maps.
func fill(ctx context.Context, s *server, n int) error {
	if err := define(ctx, s); err != nil {
		return err
	}
	kinds := []schema.GroupVersionResource{widgets}
	if !s.peer {
		kinds = append(kinds, configMaps)
	}
	return fillWith(ctx, s, n, kinds...)
}

// fillWith creates n objects of each kind in each namespace.
func fillWith(ctx context.Context, s *server, n int, kinds ...schema.GroupVersionResource) error {
	c, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return err
	}
	for _, ns := range []string{repeated, random} {
		if err := namespace(ctx, s, ns); err != nil {
			return err
		}
		if err := inParallel(ctx, 32, n, func(i int) error {
			for _, of := range kinds {
				if _, err := c.Resource(of).Namespace(ns).Create(ctx, objectOf(of, ns, i), metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func objectOf(of schema.GroupVersionResource, ns string, i int) *unstructured.Unstructured {
	kind := "ConfigMap"
	if of == widgets {
		kind = "Widget"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": of.GroupVersion().String(), "kind": kind,
		"metadata": map[string]any{"name": fmt.Sprintf("n%06d", i), "labels": map[string]any{"app": fmt.Sprint(i % 10)}},
		"data":     map[string]any{"k": value(ns)},
	}}
}

// define installs a definition and waits until it is served.
func define(ctx context.Context, s *server) error {
	c, err := apiextensions.NewForConfig(s.config)
	if err != nil {
		return err
	}
	data := apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
		Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}}
	status := apiextensionsv1.JSONSchemaProps{Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{"ready": {Type: "boolean"}}}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: widgets.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: widgets.Resource, Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"data": data, "status": status}}}}},
		},
	}
	crds := c.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return err
	}
	established := func(ctx context.Context) (bool, error) {
		now, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range now.Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	}
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, established)
}

// inParallel calls f for 0..n-1 from so many goroutines.
func inParallel(ctx context.Context, goroutines, n int, f func(i int) error) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range goroutines {
		g.Go(func() error {
			for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
				if err := f(i); err != nil {
					return err
				}
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// repeats is how many operations of a kind one run has, after one that isn't measured.
const repeats = 20

// operation makes the clients of an operation, and returns what carries it out once.
type operation func(s *server) (func(ctx context.Context) error, error)

// timed measures an operation that one client carries out repeatedly.
func timed(operation operation) func(context.Context, *server) (measured, error) {
	return func(ctx context.Context, s *server) (m measured, err error) {
		f, err := operation(s)
		if err != nil {
			return m, err
		}
		if err := f(ctx); err != nil { // it connects
			return m, err
		}
		before, took := s.usage(), make([]time.Duration, 0, repeats)
		for range repeats {
			start := time.Now()
			if err := f(ctx); err != nil {
				return m, err
			}
			took = append(took, time.Since(start))
		}
		m = s.usage().since(before, repeats)
		m.p50, m.p99, m.longest = percentiles(took)
		return m, nil
	}
}

// leastForP99 is how many durations a 99th percentile must be of. That of fewer would be the longest.
const leastForP99 = 100

// percentiles returns percentiles of durations. If there are too few for p99, it is 0, and longest is set instead.
func percentiles(took []time.Duration) (p50, p99, longest time.Duration) {
	slices.Sort(took)
	n := len(took)
	if n < leastForP99 {
		return took[n/2], 0, took[n-1]
	}
	return took[n/2], took[(n*99+99)/100-1], 0
}

func typedList(k kind, ns string, n int) operation {
	return func(s *server) (func(ctx context.Context) error, error) {
		o, err := k(s.config, ns)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error { return o.listed(ctx, n) }, nil
	}
}

// changedList updates one object before each list. The time is that of both.
func changedList(s *server) (func(ctx context.Context) error, error) {
	c, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		return nil, err
	}
	all := c.CoreV1().ConfigMaps(random)
	return func(ctx context.Context) error {
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%06d", rand.IntN(2500))},
			Data: map[string]string{"k": value(random)}}
		if _, err := all.Update(ctx, obj, metav1.UpdateOptions{}); err != nil {
			return err
		}
		l, err := all.List(ctx, metav1.ListOptions{})
		return expect(l, 2500, err)
	}, nil
}

func dynamicList(of schema.GroupVersionResource, ns string) operation {
	return func(s *server) (func(ctx context.Context) error, error) {
		c, err := dynamic.NewForConfig(s.config)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			l, err := c.Resource(of).Namespace(ns).List(ctx, metav1.ListOptions{})
			return expect(l, 2500, err)
		}, nil
	}
}

func metadataList(of schema.GroupVersionResource) operation {
	return func(s *server) (func(ctx context.Context) error, error) {
		c, err := metadata.NewForConfig(s.config)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			l, err := c.Resource(of).Namespace(random).List(ctx, metav1.ListOptions{})
			return expect(l, 2500, err)
		}, nil
	}
}

// expect returns an error for a list of another length. A namespace may have kube-root-ca.crt besides.
func expect(l runtime.Object, n int, err error) error {
	if got := meta.LenList(l); err == nil && got != n && got != n+1 {
		err = fmt.Errorf("the list has %d objects", meta.LenList(l))
	}
	return err
}
