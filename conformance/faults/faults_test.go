package faults

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
)

var (
	rounds = flag.Int("rounds", 3, "cascades that each test disturbs")
	seed   = flag.Uint64("seed", 1, "seed of the moments")
)

// patience bounds failures; nothing waits that long in a test that passes.
const patience = 30 * time.Second

// tree returns the creation of 500 objects: an owner, 49 that it owns, and 9 or 10 that each of these owns.
func tree(round int) []model.Op {
	var ops []model.Op
	add := func(owner int) {
		id := round*1000 + len(ops) + 1
		op := model.Op{ID: id, Verb: model.Create, Key: model.Key{Kind: "ConfigMap", Namespace: "a", Name: fmt.Sprintf("o%d", id)}}
		if owner >= 0 {
			o := ops[owner]
			op.Owners = []model.Owner{{APIVersion: "v1", Kind: "ConfigMap", Name: o.Key.Name,
				UID: model.UID(fmt.Sprintf("u%d", o.ID)), Block: model.Tri(id % 3)}}
		}
		ops = append(ops, op)
	}
	add(-1)
	for range 49 {
		add(0)
	}
	for i := range 450 {
		add(1 + i%49)
	}
	return ops
}

// plant creates a tree, layer by layer, and follows on the model.
func plant(t *testing.T, s *drive.Session, state model.State, ops []model.Op) model.State {
	t.Helper()
	for _, layer := range [][]model.Op{ops[:1], ops[1:50], ops[50:]} {
		var clients sync.WaitGroup
		for c := range 32 {
			clients.Go(func() {
				for i := c; i < len(layer); i += 32 {
					if a, err := s.Send(t.Context(), layer[i]); err != nil || a.Code != http.StatusCreated {
						t.Errorf("%s: %v, %v", layer[i], a.Response, err)
					}
				}
			})
		}
		clients.Wait()
	}
	for _, op := range ops {
		state, _, _ = model.Apply(state, op)
	}
	return state
}

// events waits until there have been n events, or the wait is over.
func events(t *testing.T, s *drive.Session, n int) {
	t.Helper()
	timeout := time.After(patience)
	for {
		now, err := s.Timeline()
		if err != nil {
			t.Fatal(err)
		}
		if len(now.Events) >= n {
			return
		}
		select {
		case <-now.More:
		case <-timeout:
			t.Fatalf("%d of %d events came", len(now.Events), n)
		}
	}
}

// becomes waits until the server has just the objects that the model predicts.
func becomes(t *testing.T, s *drive.Session, want model.State) {
	t.Helper()
	base := list(t, s)
	timeout := time.After(patience)
	for {
		now, err := s.Timeline()
		if err != nil {
			t.Fatal(err)
		}
		have := base.After(now.Events)
		if have.Same(want) {
			break
		}
		select {
		case <-now.More:
		case <-timeout:
			t.Fatalf("there are %d objects, not %d", len(have), len(want))
		}
	}
	if have := list(t, s); !have.Same(want) {
		t.Fatalf("it lists %d objects, not %d", len(have), len(want))
	}
}

func list(t *testing.T, s *drive.Session) model.State {
	t.Helper()
	all, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var policies = []string{"Background", "Foreground", "Orphan"}

// disturb runs cascades, each interrupted by the signal after a random number of its events, and
// restarts the server every time.
func disturb(t *testing.T, signal syscall.Signal, flags ...string) {
	t.Parallel()
	dir, random := t.TempDir(), rand.New(rand.NewPCG(*seed, uint64(signal)))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	p := serve(t, dir, flags...)
	s, err := drive.Open(t.Context(), p.url, "f-", client)
	if err != nil {
		t.Fatal(err)
	}
	state := model.State{}
	for round := range *rounds {
		ops := tree(round)
		state = plant(t, s, state, ops)
		silent := watchWithoutReading(t, p.url)
		events(t, s, len(ops))
		s.Take(len(ops))
		del := model.Op{Verb: model.Delete, Key: ops[0].Key, Policy: policies[(round+int(*seed))%len(policies)]}
		if a, err := s.Send(t.Context(), del); err != nil || a.Code != http.StatusOK {
			t.Fatalf("%s: %v, %v", del, a.Response, err)
		}
		state, _, _ = model.Apply(state, del)
		state, _ = model.Settle(state, model.First)
		moment := random.IntN(50) // an orphaning cascade has 50 events
		if del.Policy != "Orphan" {
			moment = random.IntN(500)
		}
		events(t, s, moment)
		s.Close()
		p.end(signal)
		silent()
		client.CloseIdleConnections()
		p = serve(t, dir, flags...)
		if s, err = drive.Resume(t.Context(), p.url, s, client); err != nil {
			t.Fatal(err)
		}
		becomes(t, s, state)
		now, err := s.Timeline()
		if err != nil {
			t.Fatal(err)
		}
		s.Take(len(now.Events))
		t.Logf("seed %d, round %d: %s, %v after %d events, %d objects are left", *seed, round, del.Policy, signal, moment, len(state))
	}
	s.Close()
}

// watchWithoutReading opens a watch that nobody reads; the returned function ends it.
func watchWithoutReading(t *testing.T, url string) func() {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/v1/configmaps?watch=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		cancel()
		_ = a.Body.Close() // it was cut off
	}
}

func TestKilled(t *testing.T) { disturb(t, syscall.SIGKILL) }

// TestCompacted: etcd forgets all the time.
func TestCompacted(t *testing.T) {
	disturb(t, syscall.SIGKILL, "--etcd-compaction-interval=100ms")
}

// TestRestarted: the server, and so each controller, ends in order.
func TestRestarted(t *testing.T) { disturb(t, syscall.SIGTERM) }
