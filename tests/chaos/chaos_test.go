package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/tests/chaos/check"
)

// patience is the maximum time to wait. A test that passes never waits as long.
const patience = 60 * time.Second

// The numbers of clients in a run. They suffice for some to continue while others wait for a paused server.
const (
	writers    = 12
	readers    = 8
	contenders = 3
)

// TestGuaranteesHoldDuringFaults runs clients while faults are injected: each kind once, in order and as short as
// possible, or random kinds for -duration.
func TestGuaranteesHoldDuringFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	stop := w.load(1)
	r := rand.New(rand.NewPCG(*seed, 2))
	if *duration == 0 {
		for _, f := range faults {
			w.disturb(r, f)
		}
	}
	for end := time.Now().Add(*duration); time.Now().Before(end) && !t.Failed(); {
		chosen := []fault{faults[r.IntN(len(faults))]}
		if r.IntN(3) == 0 {
			chosen = append(chosen, faults[r.IntN(len(faults))])
		}
		w.disturb(r, chosen...)
		pause(t.Context(), time.Duration(r.Int64N(int64(500*time.Millisecond))))
	}
	stop()
	w.checkHistory()
}

// load creates the namespaces, and starts the recorder, writers, readers and watchers. Each has its own random numbers.
// stop ends the writers and readers, waits for the collector and the watchers, and ends the watchers.
func (w *world) load(stream uint64) (stop func()) {
	w.t.Helper()
	numbers := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(*seed, stream<<32+n)) }
	w.namespaces(numbers(0))
	ctx, cancel := context.WithCancel(w.t.Context())
	working, halt := context.WithCancel(ctx)
	var all, work sync.WaitGroup
	w.t.Cleanup(all.Wait)
	w.t.Cleanup(cancel)
	all.Go(func() { w.record(ctx) })
	var watchers []*watcher
	for i, prefix := range slices.Concat(prefixes(), prefixes()) {
		c := w.watch(numbers(uint64(100+i)), fmt.Sprintf("w%d", i), prefix)
		watchers = append(watchers, c)
		all.Go(func() { c.run(ctx) })
	}
	w.clients(working, &work, numbers)
	return func() {
		w.t.Helper()
		halt()
		work.Wait()
		w.awaitCollector()
		w.awaitRecorded()
		w.awaitDelivery(watchers)
		cancel()
		all.Wait()
	}
}

// clients starts writers, contenders and readers.
func (w *world) clients(ctx context.Context, work *sync.WaitGroup, numbers func(uint64) *rand.Rand) {
	for i := range writers {
		r := numbers(uint64(200 + i))
		work.Go(func() { w.writer(ctx, r, 60*time.Millisecond) })
	}
	for i := range readers {
		r := numbers(uint64(300 + i))
		work.Go(func() { w.reader(ctx, r, 100*time.Millisecond) })
	}
	for i := range contenders {
		r := numbers(uint64(400 + i))
		work.Go(func() { w.contender(ctx, r, fmt.Sprint("contended-", i), 30*time.Millisecond) })
	}
}

// namespaces waits until the servers serve and creates the namespaces.
func (w *world) namespaces(r *rand.Rand) {
	w.t.Helper()
	for _, n := range namespaces {
		await(w.t, "namespace "+n, func(ctx context.Context) error {
			_, url, ok := w.servers[r.IntN(len(w.servers))].current()
			if !ok {
				return errors.New("the server isn't ready")
			}
			o := object{APIVersion: "v1", Kind: "Namespace", Metadata: metadata{Name: n}}
			code, data, err := w.send(ctx, http.MethodPost, url+"/api/v1/namespaces", "application/json", o)
			if err == nil && code != http.StatusCreated && code != http.StatusConflict {
				err = fmt.Errorf("%d %s", code, data)
			}
			return err
		})
	}
}

// disturb injects faults together, ends them after a time, and waits until all servers serve again.
func (w *world) disturb(r *rand.Rand, chosen ...fault) {
	w.t.Helper()
	var heals []func()
	var longest time.Duration
	for _, f := range chosen {
		last := f.least
		if *duration > 0 && f.most > f.least {
			last += time.Duration(r.Int64N(int64(f.most - f.least)))
		}
		what, heal := f.inject(w, r)
		w.inject(f.name, fmt.Sprintf("%s for %v", what, last))
		longest = max(longest, last)
		if heal != nil {
			heals = append(heals, heal)
		}
	}
	pause(w.t.Context(), longest)
	for _, heal := range heals {
		heal()
	}
	began := time.Now()
	w.etcd.whole()
	await(w.t, "no alarm is left", w.etcd.disarm)
	for _, s := range w.servers {
		w.serves(s)
	}
	took := time.Since(began)
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%7.3fs all serve again, after %v", w.now().Seconds(), took.Round(time.Millisecond))
	w.faults = append(w.faults, line)
	if w.recovery = max(w.recovery, took); w.recovery == took {
		w.slowest = w.faults[len(w.faults)-2]
	}
}

// serves waits until a write to a server succeeds, and reads the object.
func (w *world) serves(s *server) {
	w.t.Helper()
	key := prefixes()[0] + "probe-" + s.name
	await(w.t, s.name+" serves", func(ctx context.Context) error {
		id, url, ok := s.current()
		if !ok {
			return errors.New("it isn't ready: " + s.log())
		}
		o := w.write(ctx, id, url, request{verb: check.Patch, key: key, keepOwners: true})
		if o.Outcome == check.Rejected {
			o = w.write(ctx, id, url, request{verb: check.Create, key: key})
		}
		if o.Outcome == check.Rejected { // an alarm may have been raised late, by a member that was paused
			return errors.Join(errors.New("a write is rejected"), w.etcd.disarm(ctx))
		}
		if o.Outcome != check.Acknowledged {
			return fmt.Errorf("a write is %s", o.Outcome)
		}
		if code := w.get(ctx, id, url, key, check.Default, 0); code != http.StatusOK {
			return fmt.Errorf("a read is answered with %d", code)
		}
		return nil
	})
}

// awaitCollector waits until the collector has no work left.
func (w *world) awaitCollector() {
	w.t.Helper()
	var left []check.Violation
	err := within(w.t, patience, func(ctx context.Context) error {
		now, err := w.state(ctx, 0)
		if err != nil {
			return err
		}
		if left = check.Unfinished(now.objects); len(left) > 0 {
			return fmt.Errorf("%d objects", len(left))
		}
		return nil
	})
	if err != nil {
		w.t.Errorf("the collector is not done after %v: %v\n%v", patience, err, left[:min(len(left), 5)])
	}
}

// awaitDelivery waits until all watchers have received all events of their collections.
func (w *world) awaitDelivery(watchers []*watcher) {
	w.t.Helper()
	for _, c := range watchers {
		var last int64
		w.mu.Lock()
		for _, e := range slices.Backward(w.h.Events) {
			if strings.HasPrefix(e.Key, c.seen.Prefix) {
				last = e.Revision
				break
			}
		}
		w.mu.Unlock()
		await(w.t, fmt.Sprintf("%s has revision %d", c.seen.Name, last), func(context.Context) error {
			if !c.reached(last) {
				return errors.New("it has not")
			}
			return nil
		})
		w.mu.Lock()
		c.seen.Until = last
		w.mu.Unlock()
	}
}
