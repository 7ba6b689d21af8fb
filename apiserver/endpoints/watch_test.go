package endpoints_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/internal/seed"
)

const mergePatch = "application/merge-patch+json"

// next returns the next event.
func next(t *testing.T, w *apiservertest.Watch) apiservertest.Event {
	t.Helper()
	e, err := w.Next()
	if err != nil {
		t.Fatalf("reading an event: %v", err)
	}
	return e
}

// TestWatchesMissNothing runs writers, and watchers with different selectors that disconnect and reconnect at random.
// Each must see the whole history after its start: every event once and in order. Applied to the first list, the events
// must give the last list.
func TestWatchesMissNothing(t *testing.T) {
	seed := seed.Of(t)
	s := apiservertest.Start(t, nil)
	fill(t, s, 20)
	stop := make(chan struct{})
	var writers, watchers sync.WaitGroup
	for i := range 3 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		writers.Go(func() {
			for range 150 {
				churn(s, r)
			}
		})
	}
	var followers []*follower
	for i, selector := range []string{"", "", "n=1", "n!=1", "n in (0,2)", "!n", ""} {
		f := &follower{
			s: s, selector: selector, r: rand.New(rand.NewPCG(seed, uint64(100+i))), state: map[string]string{}, stop: stop,
		}
		f.list(t)
		followers = append(followers, f)
		watchers.Go(func() {
			if err := f.follow(); err != nil {
				t.Errorf("watcher %d (%q): %v", i, selector, err)
			}
		})
	}
	writers.Wait()
	must(t, s.Do("POST", configmaps, configmap("zz", nil, nil)), http.StatusCreated)
	must(t, s.Do("DELETE", configmaps+"/zz", nil), http.StatusOK)
	end, err := s.Store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	close(stop)
	for _, f := range followers {
		f.finish(end)
	}
	watchers.Wait()
	for i, f := range followers {
		want := &follower{s: s, selector: f.selector, state: map[string]string{}}
		want.list(t)
		if diff := cmp.Diff(want.state, f.state); diff != "" {
			t.Errorf("watcher %d (%q) (-list +watched):\n%s", i, f.selector, diff)
		}
	}
}

// follower keeps a copy of a selection by a list and watches.
type follower struct {
	s        *apiservertest.Server
	selector string
	r        *rand.Rand
	stop     chan struct{}
	// state has the revisions of objects by name, at the revision rev.
	state map[string]string
	rev   int64

	mu  sync.Mutex // guards end
	end int64
}

func (f *follower) finish(end int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end = end
}

// done reports whether the writers have ended and all up to their end has been seen.
func (f *follower) done() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.end > 0 && f.rev >= f.end
}

func (f *follower) query() string {
	return configmaps + "?labelSelector=" + strings.NewReplacer(" ", "%20", "=", "%3D", "!", "%21").Replace(f.selector)
}

func (f *follower) list(t *testing.T) {
	l := must(t, f.s.Do("GET", f.query(), nil), http.StatusOK).List()
	for _, item := range l.Items {
		f.state[item.GetName()] = item.GetResourceVersion()
	}
	f.rev, _ = strconv.ParseInt(l.GetResourceVersion(), 10, 64)
}

// follow watches, for a random number of events at a time, until all has been seen. A watch without events for long is
// opened again, with sendInitialEvents: its bookmark has the revision.
func (f *follower) follow() error {
	for !f.done() {
		select {
		case <-f.stop:
			if err := f.settle(); err != nil {
				return err
			}
			continue
		default:
		}
		w, err := f.s.TryWatch(fmt.Sprintf("%s&watch=1&timeoutSeconds=1&resourceVersion=%d", f.query(), f.rev))
		if err != nil {
			return err
		}
		err = f.read(w, 1+f.r.IntN(40))
		w.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// settle reads the rest of a watch.
func (f *follower) settle() error {
	w, err := f.s.TryWatch(fmt.Sprintf("%s&watch=1&timeoutSeconds=1&resourceVersion=%d", f.query(), f.rev))
	if err != nil {
		return err
	}
	defer w.Close()
	if err := f.read(w, 1<<30); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rev = max(f.rev, f.end)
	return nil
}

func (f *follower) read(w *apiservertest.Watch, events int) error {
	for range events {
		e, err := w.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := f.take(e); err != nil {
			return err
		}
	}
	return nil
}

// take applies an event. It returns an error if an event is missing, repeated or out of order.
func (f *follower) take(e apiservertest.Event) error {
	name, text := e.Object.GetName(), e.Object.GetResourceVersion()
	rev, err := strconv.ParseInt(text, 10, 64)
	if err != nil || rev <= f.rev {
		return fmt.Errorf("%s %s at %s after %d", e.Type, name, text, f.rev)
	}
	_, known := f.state[name]
	if (e.Type == "ADDED") == known {
		return fmt.Errorf("%s %s at %s, known %v", e.Type, name, text, known)
	}
	switch e.Type {
	case "ADDED", "MODIFIED":
		f.state[name] = text
	case "DELETED":
		delete(f.state, name)
	default:
		return fmt.Errorf("event %s: %v", e.Type, e.Object)
	}
	f.rev = rev
	return nil
}

// TestWatchOfAFutureRevisionIsSilent: a watch from a revision that does not exist yet sends no events up to this
// revision (H-29).
func TestWatchOfAFutureRevisionIsSilent(t *testing.T) {
	t.Parallel()
	s := apiservertest.Start(t, nil)
	now, err := s.Store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := s.Watch(fmt.Sprintf("%s?watch=1&resourceVersion=%d", configmaps, now+2))
	fill(t, s, 4)
	for _, want := range []string{"m02", "m03"} {
		if e := next(t, w); e.Object.GetName() != want {
			t.Fatalf("%s %s, want %s", e.Type, e.Object.GetName(), want)
		}
	}
	e := next(
		t, s.Watch(configmaps+"?watch=1&resourceVersion=1000000&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
	)
	if e.Type != "ERROR" ||
		!strings.HasPrefix(e.Object.Object["message"].(string), "Timeout: Too large resource version: 1000000") {
		t.Errorf("initial events of the future: %s %v", e.Type, e.Object)
	}
}

// TestShutdownEndsWatches: CloseWatches ends streams cleanly.
func TestShutdownEndsWatches(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 1)
	w := s.Watch(configmaps + "?watch=1")
	next(t, w)
	s.API.CloseWatches()
	if e, err := w.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v %v after the end", e, err)
	}
	ready := must(t, s.Do("GET", "/readyz", nil), http.StatusInternalServerError)
	if !strings.Contains(string(ready.Body), "[-]shutdown failed") {
		t.Errorf("readyz: %s", ready.Body)
	}
	must(t, s.Do("GET", "/livez", nil), http.StatusOK)
}

// TestBusyWatchEnds: a watch whose events never pause still ends in time (H-33).
func TestBusyWatchEnds(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 1)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 8 {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					churn(s, r)
				}
			}
		})
	}
	w := s.Watch(configmaps + "?watch=1&timeoutSeconds=1")
	events := 0
	for {
		if _, err := w.Next(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
		events++
	}
	close(stop)
	writers.Wait()
	if events < 2 {
		t.Errorf("%d events", events)
	}
}

// TestManyWatchesGetAllEvents: many watchers of objects that change all the time receive several events at once. Each
// of them receives all events in order, and each watch sends its bookmark (H-28) and ends (H-33) in time.
func TestManyWatchesGetAllEvents(t *testing.T) {
	s := apiservertest.Start(t, nil)
	start := must(t, s.Do("GET", configmaps, nil), http.StatusOK).List().GetResourceVersion()
	ending := s.Watch(configmaps + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=" + start)
	seen := make([][]string, 20)
	var crowd, writers sync.WaitGroup
	for i := range seen {
		w := s.Watch(configmaps + "?watch=1&resourceVersion=" + start)
		crowd.Go(func() {
			for {
				e, err := w.Next()
				if err != nil {
					t.Errorf("watcher %d: %v", i, err)
					return
				}
				name := e.Object.GetName()
				if seen[i] = append(seen[i], name+" "+e.Object.GetAnnotations()["n"]); name == "last" {
					return
				}
			}
		})
	}
	ended := make(chan struct{})
	var written [6]int
	for i := range written {
		name := fmt.Sprintf("w%d", i)
		must(t, s.Do("POST", configmaps, configmap(name, nil, nil)), http.StatusCreated)
		writers.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				written[i]++
				patch := fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, written[i])
				if a := s.Do("PATCH", configmaps+"/"+name, patch); a.Code != http.StatusOK {
					t.Errorf("%d %s", a.Code, a.Body)
					return
				}
			}
		})
	}
	marked := false
	for e, err := ending.Next(); ; e, err = ending.Next() {
		if err != nil {
			if !marked || !errors.Is(err, io.EOF) {
				t.Errorf("the watch of three seconds ends with %v; it had a bookmark: %t", err, marked)
			}
			break
		}
		marked = marked || e.Type == "BOOKMARK"
	}
	close(ended)
	writers.Wait()
	must(t, s.Do("POST", configmaps, configmap("last", nil, nil)), http.StatusCreated)
	crowd.Wait()
	for i, n := range written {
		want := []string{fmt.Sprintf("w%d ", i)}
		for k := range n {
			want = append(want, fmt.Sprintf("w%d %d", i, k+1))
		}
		got := slices.DeleteFunc(slices.Clone(seen[0]), func(e string) bool {
			return !strings.HasPrefix(e, fmt.Sprintf("w%d ", i))
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("object %d (-written +seen):\n%s", i, diff)
		}
	}
	for i, got := range seen {
		if diff := cmp.Diff(seen[0], got); diff != "" {
			t.Errorf("watcher %d (-first +this):\n%s", i, diff)
		}
	}
}

// TestSlowWatcher: a watch that isn't read is aborted, and others receive their events in the meantime.
func TestSlowWatcher(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.WriteTimeout = time.Second
	}})
	unread(t, s, configmaps+"?watch=1")
	quick := s.Watch(configmaps + "?watch=1")
	// More than the buffers of both sides hold; the quick watcher reads each event at once.
	big := strings.Repeat("x", 512<<10)
	for i := range 40 {
		name := fmt.Sprintf("big%d", i)
		must(t, s.Do("POST", configmaps, configmap(name, map[string]string{"k": big}, nil)), http.StatusCreated)
		if e := next(t, quick); e.Type != "ADDED" || e.Object.GetName() != name {
			t.Fatalf("event %d: %s %s", i, e.Type, e.Object.GetName())
		}
	}
	drops(t, s, 1, `apiserver_longrunning_requests{`, `resource="configmaps"`)
	must(t, s.Do("POST", configmaps, configmap("last", nil, nil)), http.StatusCreated)
	if e := next(t, quick); e.Object.GetName() != "last" {
		t.Errorf("%s %s", e.Type, e.Object.GetName())
	}
}

// metric returns the sum of the samples whose line begins with the name and contains all labels.
func metric(t *testing.T, s *apiservertest.Server, name string, labels ...string) (sum float64) {
	t.Helper()
next:
	for line := range strings.Lines(string(must(t, s.Do("GET", "/metrics", nil), http.StatusOK).Body)) {
		if !strings.HasPrefix(line, name) {
			continue
		}
		for _, l := range labels {
			if !strings.Contains(line, l) {
				continue next
			}
		}
		fields := strings.Fields(line)
		v, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			t.Fatal(line)
		}
		sum += v
	}
	return sum
}

// drops waits until a metric is at most a value.
func drops(t *testing.T, s *apiservertest.Server, most float64, name string, labels ...string) {
	t.Helper()
	for metric(t, s, name, labels...) > most {
	}
}

func mustJSON(t *testing.T, obj *unstructured.Unstructured) string {
	t.Helper()
	data, err := json.Marshal(obj.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
