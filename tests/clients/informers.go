package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

func syncs(n int) []workload {
	return []workload{
		{name: fmt.Sprintf("informer sync of %d, list and watch", n), run: timed(synced(typedConfigMaps, false)),
			plain: true},
		{name: fmt.Sprintf("informer sync of %d, watch-list", n), run: timed(synced(typedConfigMaps, true)), plain: true},
		{name: fmt.Sprintf("informer sync of %d custom resources, list and watch", n),
			run: timed(synced(typedWidgets, false)), plain: true, custom: true},
		{name: fmt.Sprintf("informer sync of %d custom resources, watch-list", n),
			run: timed(synced(typedWidgets, true)), plain: true, custom: true},
	}
}

// source is where an informer lists and watches.
type source struct {
	*objects
	// listing says that the informer lists first, instead of asking for initial events.
	listing bool
}

func (s source) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.list(context.Background(), o)
}

func (s source) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.watch(context.Background(), o)
}

// IsWatchListSemanticsUnSupported is what client-go asks a source before it asks the server for initial events.
func (s source) IsWatchListSemanticsUnSupported() bool { return s.listing }

// synced measures the time from the start of an informer until it has all objects.
func synced(k kind, initialEvents bool) operation {
	return func(s *server) (func(ctx context.Context) error, error) {
		o, err := k(s.config, random)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			informer := cache.NewSharedIndexInformer(source{o, !initialEvents}, o.example, 0, nil)
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
	// writers is how many goroutines write, writes how many objects each run has.
	writers, writes = 4, 4000
)

// fanOut creates objects while so many informers, each with a connection of its own, watch them: as fast as the writers
// can, or at a pace in objects per second. An event's age is the time from before its write was sent, or was due at
// that pace, until a handler has it.
func fanOut(k kind, informers, pace int) func(context.Context, *server) (measured, error) {
	return func(ctx context.Context, s *server) (m measured, err error) {
		watching, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer stop()
		n := informers * writes
		a := ages{want: n, all: make([]time.Duration, 0, n), done: make(chan struct{})}
		for range informers {
			informer, err := follow(watching, k, s, &running)
			if err != nil {
				return m, err
			}
			if _, err := informer.AddEventHandler(&a); err != nil {
				return m, err
			}
		}
		o, err := k(s.config, random)
		if err != nil {
			return m, err
		}
		before := s.usage()
		if err := inParallel(ctx, writers, writes, func(i int) error {
			return write(ctx, o, due(before.at, i, pace))
		}); err != nil {
			return m, err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return m, ctx.Err()
		}
		m = s.usage().since(before, n)
		m.p50, m.p99, m.longest = percentiles(a.all)
		stop() // before the deletions: with their events, apiextensions-apiserver takes more than a minute for them
		running.Wait()
		return m, o.clear(ctx)
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
func write(ctx context.Context, o *objects, sent time.Time) error {
	return o.create(ctx, metav1.ObjectMeta{
		GenerateName: eventPrefix, Annotations: map[string]string{"sent": fmt.Sprintf("%s%019d", sentMark, sent.UnixNano())},
	}, map[string]string{"k": value(random)})
}

// What the objects of a fan-out have, and nothing else in them: no base64 has these characters. The plain handler finds
// the time in any encoding, and replaces it in an event by another one of the same length.
const (
	eventPrefix = "event-"
	sentMark    = "sent@"
	sentLength  = len(sentMark) + 19
)

// ages is a handler of informers that records the ages of events.
type ages struct {
	cache.ResourceEventHandlerFuncs
	// done is closed when all are there, which are as many as want.
	want int
	done chan struct{}

	mu  sync.Mutex // guards all
	all []time.Duration
}

// OnAdd implements cache.ResourceEventHandler.
func (a *ages) OnAdd(obj any, initial bool) {
	sent, ok := strings.CutPrefix(obj.(metav1.Object).GetAnnotations()["sent"], sentMark)
	nanoseconds, err := strconv.ParseInt(sent, 10, 64)
	if !ok || err != nil || initial {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all = append(a.all, time.Since(time.Unix(0, nanoseconds))); len(a.all) == a.want {
		close(a.done)
	}
}

// follow starts an informer with a connection of its own, and waits until it is complete. It ends with ctx, in running.
func follow(ctx context.Context, k kind, s *server, running *sync.WaitGroup) (cache.SharedIndexInformer, error) {
	o, err := k(apart(s.config), random)
	if err != nil {
		return nil, err
	}
	informer := cache.NewSharedIndexInformer(source{o, false}, o.example, 0, nil)
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
