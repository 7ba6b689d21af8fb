package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

func syncs(n int) []workload {
	return []workload{
		{name: fmt.Sprintf("informer sync of %d, list and watch", n), run: timed(synced(false))},
		{name: fmt.Sprintf("informer sync of %d, watch-list", n), run: timed(synced(true))},
	}
}

// source lists and watches the config maps of a namespace.
type source struct {
	client kubernetes.Interface
	ns     string
	// listing says that the informer lists first, instead of asking for initial events.
	listing bool
}

func (s source) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.client.CoreV1().ConfigMaps(s.ns).List(context.Background(), o)
}

func (s source) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.client.CoreV1().ConfigMaps(s.ns).Watch(context.Background(), o)
}

// IsWatchListSemanticsUnSupported is what client-go asks a source before it asks the server for initial events.
func (s source) IsWatchListSemanticsUnSupported() bool { return s.listing }

// synced measures the time from the start of an informer until it has all objects.
func synced(initialEvents bool) operation {
	return func(s *server) (func(ctx context.Context) error, error) {
		c, err := kubernetes.NewForConfig(s.config)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			informer := cache.NewSharedIndexInformer(source{c, random, !initialEvents}, &corev1.ConfigMap{}, 0, nil)
			ctx, stop := context.WithCancel(ctx)
			var wg sync.WaitGroup
			wg.Go(func() { informer.RunWithContext(ctx) })
			defer wg.Wait()
			defer stop()
			return complete(ctx, informer)
		}, nil
	}
}

const (
	// informers is how many informers get each event, writers how many goroutines write, events how many each run has.
	informers, writers, events = 20, 4, 4000
)

// fanOut creates objects while informers, each with a connection of its own, watch them: as fast as the writers can, or
// so many in a second. An event's age is the time from before its write was sent, or was due at that pace, until a
// handler has it.
func fanOut(pace int) func(context.Context, *server) (measured, error) {
	return func(ctx context.Context, s *server) (m measured, err error) {
		ctx, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		a := ages{all: make([]time.Duration, 0, informers*events)}
		a.missing.Add(informers * events)
		for range informers {
			informer, err := follow(ctx, s, &running)
			if err != nil {
				return m, err
			}
			if _, err := informer.AddEventHandler(&a); err != nil {
				return m, err
			}
		}
		c, err := kubernetes.NewForConfig(s.config)
		if err != nil {
			return m, err
		}
		before, began := s.cpu(), time.Now()
		if err := inParallel(ctx, writers, events, func(i int) error {
			return write(ctx, c, due(began, i, pace))
		}); err != nil {
			return m, err
		}
		a.missing.Wait()
		const n = informers * events
		m = measured{rate: n / time.Since(began).Seconds(), cpu: (s.cpu() - before) / n}
		m.p50, m.p99 = percentiles(a.all)
		return m, c.CoreV1().ConfigMaps(random).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	}
}

// due waits until write i is due, and returns that time: now, if there is no pace.
func due(began time.Time, i, pace int) time.Time {
	if pace == 0 {
		return time.Now()
	}
	at := began.Add(time.Duration(i) * time.Second / time.Duration(pace))
	time.Sleep(time.Until(at))
	return at
}

// write creates an object that says when it was sent.
func write(ctx context.Context, c kubernetes.Interface, sent time.Time) error {
	_, err := c.CoreV1().ConfigMaps(random).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "event-", Annotations: map[string]string{
			"sent": sent.Format(time.RFC3339Nano)}}, Data: map[string]string{"k": value(random)},
	}, metav1.CreateOptions{})
	return err
}

// ages is a handler of informers that records the ages of events.
type ages struct {
	cache.ResourceEventHandlerFuncs
	missing sync.WaitGroup

	mu  sync.Mutex // guards all
	all []time.Duration
}

// OnAdd implements cache.ResourceEventHandler.
func (a *ages) OnAdd(obj any, initial bool) {
	sent, err := time.Parse(time.RFC3339Nano, obj.(*corev1.ConfigMap).Annotations["sent"])
	if err != nil || initial {
		return
	}
	a.mu.Lock()
	a.all = append(a.all, time.Since(sent))
	a.mu.Unlock()
	a.missing.Done()
}

// follow starts an informer and waits until it is complete. It ends with ctx, in running.
func follow(ctx context.Context, s *server, running *sync.WaitGroup) (cache.SharedIndexInformer, error) {
	own := *s.config
	// else client-go shares one connection between clients of the same configuration
	own.Dial = (&net.Dialer{}).DialContext
	c, err := kubernetes.NewForConfig(&own)
	if err != nil {
		return nil, err
	}
	informer := cache.NewSharedIndexInformer(source{c, random, false}, &corev1.ConfigMap{}, 0, nil)
	running.Go(func() { informer.RunWithContext(ctx) })
	return informer, complete(ctx, informer)
}

// complete waits until an informer has all objects.
func complete(ctx context.Context, informer cache.SharedIndexInformer) error {
	select {
	case <-informer.HasSyncedChecker().Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
