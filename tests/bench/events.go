package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// receiver starts a client with its own connection, which passes the data of new objects to a until ctx ends.
type receiver func(ctx context.Context, r *run, k kind, namespace string, a *ages) error

// byInformer receives events with an informer of client-go.
func byInformer(ctx context.Context, r *run, k kind, namespace string, a *ages) error {
	c, err := k.client(r.server, k.formats[0], true)
	if err != nil {
		return err
	}
	i, err := informer(ctx, c, k, namespace, false, &a.running)
	if err == nil {
		_, err = i.AddEventHandler(a)
	}
	return err
}

// byWatch receives events as JSON with a client that does not decode them.
func byWatch(ctx context.Context, r *run, k kind, namespace string, a *ages) error {
	_, err := r.server.admin.watch(ctx, k.path(namespace)+"?watch=1&labelSelector=app", func(event []byte) bool {
		if _, rest, ok := bytes.Cut(event, []byte(`"sent":"`)); ok {
			a.add(string(rest[:min(len(rest), 20)]))
		}
		return true
	})
	return err
}

// eventCase measures events of new objects to several receivers. Without a rate, four writers write as fast as they
// can. With a rate, 16 writers share it. Each object has padding bytes of data. The duration of an event begins when
// its write was sent, or when the write was due at that rate.
func eventCase(k kind, receive receiver, receivers, rate, padding int) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		namespace, err := r.namespace(ctx)
		if err != nil {
			return err
		}
		writes, writers := r.bench.size(min(4000, 1_000_000/receivers)), 4
		if rate > 0 {
			writers = 16
		}
		a := &ages{want: receivers * writes, done: make(chan struct{})}
		receiving, stop := context.WithCancel(ctx)
		defer a.running.Wait()
		defer stop()
		for range receivers {
			if err := receive(receiving, r, k, namespace, a); err != nil {
				return err
			}
		}
		_, err = r.during(ctx, "", a.want, func() ([]time.Duration, error) {
			began := time.Now()
			if _, err := inParallel(ctx, writers, writes, func(ctx context.Context, i int) error {
				sent := time.Now()
				if rate > 0 {
					sent = began.Add(time.Duration(i) * time.Second / time.Duration(rate))
					time.Sleep(time.Until(sent))
				}
				value := fmt.Sprint(sent.UnixNano(), " ", random(i, padding))
				return r.server.admin.create(ctx, k, namespace, objectName(i), "sent", value)
			}); err != nil {
				return nil, err
			}
			select {
			case <-a.done:
				return a.all, nil
			case <-time.After(time.Minute):
				return nil, errors.New("events are missing after a minute")
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		return err
	}
}

// ages records the durations of events.
type ages struct {
	cache.ResourceEventHandlerFuncs
	// running are the informers.
	running sync.WaitGroup
	// done is closed after want events.
	want int
	done chan struct{}

	mu  sync.Mutex // guards all
	all []time.Duration
}

// OnAdd implements cache.ResourceEventHandler.
func (a *ages) OnAdd(object any, _ bool) { a.add(object.(*corev1.ConfigMap).Data["sent"]) }

// add records an event, unless another client has created the object. sent begins with the time of the write.
func (a *ages) add(sent string) {
	text, _, _ := strings.Cut(sent, " ")
	nanoseconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all = append(a.all, time.Since(time.Unix(0, nanoseconds))); len(a.all) == a.want {
		close(a.done)
	}
}

func eventCases() (cases []workload) {
	for _, n := range []int{1, 100, 1000} {
		cases = append(cases, workload{name: fmt.Sprintf("event to %d watches", n),
			run: eventCase(configMaps, byWatch, n, 0, 0)})
	}
	return append(cases,
		workload{name: "event to 100 watches at 1000 writes/s", run: eventCase(configMaps, byWatch, 100, 1000, 0)},
		workload{name: "event to 20 informers, ConfigMap", run: eventCase(configMaps, byInformer, 20, 0, 1024)},
		workload{name: "event to 20 informers at 1000 writes/s, ConfigMap",
			run: eventCase(configMaps, byInformer, 20, 1000, 1024)},
		workload{name: "event to 20 informers, custom resource", run: eventCase(widgets, byInformer, 20, 0, 1024),
			custom: true},
		workload{name: "event to 100 informers, ConfigMap", run: eventCase(configMaps, byInformer, 100, 0, 1024)})
}
