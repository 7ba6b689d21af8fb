package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
)

// verb is one request of a client, or two for an update.
type verb struct {
	name string
	// made says that the objects must exist.
	made bool
	do   func(ctx context.Context, c typed.ConfigMapInterface, name string) error
}

// small is the data of the objects that are written and read one by one.
var small = map[string]string{"k": "v"}

func verbs() []verb {
	changed := func(c *corev1.ConfigMap) *corev1.ConfigMap {
		c.Data = map[string]string{"k": "w"}
		return c
	}
	return []verb{
		{"create", false, func(ctx context.Context, c typed.ConfigMapInterface, name string) error {
			_, err := c.Create(
				ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: small}, metav1.CreateOptions{})
			return err
		}},
		{"get", true, func(ctx context.Context, c typed.ConfigMapInterface, name string) error {
			_, err := c.Get(ctx, name, metav1.GetOptions{})
			return err
		}},
		{"update (get and put)", true, func(ctx context.Context, c typed.ConfigMapInterface, name string) error {
			now, err := c.Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				_, err = c.Update(ctx, changed(now), metav1.UpdateOptions{})
			}
			return err
		}},
		{"merge patch", true, func(ctx context.Context, c typed.ConfigMapInterface, name string) error {
			_, err := c.Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"k":"w"}}`), metav1.PatchOptions{})
			return err
		}},
		{"apply", true, func(ctx context.Context, c typed.ConfigMapInterface, name string) error {
			_, err := c.Apply(ctx, applycorev1.ConfigMap(name, random).WithData(map[string]string{"k2": "v"}),
				metav1.ApplyOptions{FieldManager: "bench"})
			return err
		}},
		{"delete", true, func(ctx context.Context, c typed.ConfigMapInterface, name string) error {
			return c.Delete(ctx, name, metav1.DeleteOptions{})
		}},
	}
}

// singles are the cases of single objects, by one goroutine and by 32 that share a connection.
func singles() (cases []workload) {
	for _, goroutines := range []int{32, 1} {
		for _, v := range verbs() {
			n := 4000
			if goroutines == 1 {
				n = 500
			}
			name := fmt.Sprintf("%s, %d goroutines", v.name, goroutines)
			if goroutines == 1 {
				name = v.name + ", 1 goroutine"
			}
			cases = append(cases, workload{name: name, run: v.by(goroutines, n), plain: true})
		}
	}
	return cases
}

// runNumber makes the names of each run unique.
var runNumber atomic.Int64

// by measures n requests by so many goroutines that share a client, and so a connection.
func (v verb) by(goroutines, n int) func(context.Context, *server) (measured, error) {
	return func(ctx context.Context, s *server) (m measured, err error) {
		client, err := kubernetes.NewForConfig(s.config)
		if err != nil {
			return m, err
		}
		c, run := client.CoreV1().ConfigMaps(random), runNumber.Add(1)
		name := func(i int) string { return fmt.Sprintf("run%d-%d", run, i) }
		if v.made {
			create := verbs()[0]
			if err := inParallel(ctx, 32, n, func(i int) error { return create.do(ctx, c, name(i)) }); err != nil {
				return m, err
			}
		}
		var mu sync.Mutex // guards took
		took := make([]time.Duration, 0, n)
		before, began := s.cpu(), time.Now()
		if err := inParallel(ctx, goroutines, n, func(i int) error {
			start := time.Now()
			err := v.do(ctx, c, name(i))
			mu.Lock()
			took = append(took, time.Since(start))
			mu.Unlock()
			return err
		}); err != nil {
			return m, err
		}
		m = measured{rate: float64(n) / time.Since(began).Seconds(), cpu: (s.cpu() - before) / time.Duration(n)}
		m.p50, m.p99 = percentiles(took)
		return m, c.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	}
}
