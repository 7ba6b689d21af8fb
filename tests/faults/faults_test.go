package faults

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
	"github.com/kubecascade/kubecascade/tests/process"
)

var (
	rounds = flag.Int("rounds", 2, "cascades that each test disturbs")
	seed   = flag.Uint64("seed", 1, "seed of the trees and moments; 0 draws one, which is printed")
)

// patience is the maximum time to wait. A test that passes never waits as long.
const patience = 30 * time.Second

// numbers returns random numbers that depend on the seed and on the test's name.
func numbers(t *testing.T) *rand.Rand {
	t.Helper()
	h := fnv.New64()
	_, _ = h.Write([]byte(t.Name())) // never fails
	return rand.New(rand.NewPCG(*seed, h.Sum64()))
}

// forest has the objects of a cascade: at least 500, created in layers.
type forest struct {
	*rand.Rand
	round  int
	layers [][]model.Op
	ids    int
}

// traits are the special objects that some forests have besides plain dependents.
type traits struct{ held, shared, cyclic, born, kinds bool }

func (t traits) String() string {
	var words []string
	for _, w := range []struct {
		on   bool
		word string
	}{
		{t.held, "finalizers"}, {t.shared, "second owners"}, {t.cyclic, "cycles"}, {t.born, "collector's finalizers"},
		{t.kinds, "kinds"},
	} {
		if w.on {
			words = append(words, w.word)
		}
	}
	return strings.Join(append(words, "dependents"), ", ")
}

// grow returns a forest and its traits. The forest has an owner, its 49 dependents, their 450 dependents, and a keeper
// that no client deletes.
func grow(r *rand.Rand, round int) (*forest, traits) {
	chance := func() bool { return r.IntN(2) == 0 }
	x, f := traits{chance(), chance(), chance(), chance(), chance()}, &forest{Rand: r, round: round}
	keeper := f.op("ConfigMap")
	root := f.op("ConfigMap")
	f.layers = [][]model.Op{{root, keeper}, {}, {}, {}}
	kinds := []string{"ConfigMap"}
	if x.kinds {
		kinds = []string{"ConfigMap", "Secret", "ServiceAccount", "Widget"}
	}
	for i := range 499 {
		layer, owner := 1, root
		if i >= 49 {
			layer, owner = 2, f.layers[1][i%49]
		}
		op := f.op(kinds[r.IntN(len(kinds))])
		op.Owners = []model.Owner{f.owner(owner)}
		few := r.IntN(20)
		switch {
		case few == 0 && x.shared:
			op.Owners = append(op.Owners, f.owner(keeper))
		case few == 1 && x.held && layer == 2:
			op.Finalizers = []string{"example.com/hold"}
		case few == 2 && x.born:
			op.Finalizers = []string{[]string{model.Orphan, model.Foreground}[r.IntN(2)]}
		}
		f.layers[layer] = append(f.layers[layer], op)
	}
	if x.cyclic {
		for i := range 5 { // a dependent owns its owner, too
			down := f.layers[2][i]
			up := f.layers[1][i]
			f.layers[3] = append(f.layers[3], model.Op{ID: f.id(), Verb: model.Merge, Key: up.Key, Set: model.SetOwners,
				Owners: append(slices.Clone(up.Owners), f.owner(down))})
		}
	}
	return f, x
}

func (f *forest) id() int {
	f.ids++
	return f.round*1000 + f.ids
}

func (f *forest) op(kind string) model.Op {
	id := f.id()
	return model.Op{ID: id, Verb: model.Create, Key: model.Key{Kind: kind, Namespace: "a", Name: fmt.Sprintf("o%d", id)}}
}

func (f *forest) owner(o model.Op) model.Owner {
	return model.Owner{
		APIVersion: model.KindOf(o.Key.Kind).APIVersion, Kind: o.Key.Kind, Name: o.Key.Name,
		UID: model.UID(fmt.Sprintf("u%d", o.ID)), Block: model.Tri(f.IntN(3)),
	}
}

// predicted creates forests until the model predicts the same final state for one in every order of the collector's
// work. It returns that forest, its traits, and its first and final state. They do not include the forests of earlier
// rounds, which do not change and have no owners in this one.
func predicted(r *rand.Rand, round int) (f *forest, x traits, del model.Op, planted, end model.State) {
	for {
		f, x = grow(r, round)
		planted = model.State{}
		for _, op := range slices.Concat(f.layers...) {
			planted, _, _ = model.Apply(planted, op)
		}
		del = model.Op{Verb: model.Delete, Key: f.layers[0][0].Key, Policy: policies[r.IntN(len(policies))]}
		deleted, _, _ := model.Apply(planted, del)
		end, _ = model.Settle(deleted, model.First)
		if other, _ := model.Settle(deleted, model.Last); other.Same(end) {
			return f, x, del, planted, end
		}
	}
}

// plant creates a forest, layer by layer.
func plant(t *testing.T, s *drive.Session, f *forest) {
	t.Helper()
	for _, layer := range f.layers {
		var clients sync.WaitGroup
		for c := range 32 {
			clients.Go(func() {
				for i := c; i < len(layer); i += 32 {
					if a, err := s.Send(t.Context(), layer[i]); err != nil || a.Code/100 != 2 {
						t.Errorf("%s: %v, %v", layer[i], a.Response, err)
					}
				}
			})
		}
		clients.Wait()
	}
}

// events waits until there have been n events after base, the cascade has ended, or the wait times out.
func events(t *testing.T, s *drive.Session, base model.State, n int, end model.State) (state model.State) {
	t.Helper()
	timeout := time.After(patience)
	for {
		now, err := s.Timeline()
		if err != nil {
			t.Fatal(err)
		}
		state = base.After(now.Events)
		if len(now.Events) >= n || state.Same(end) {
			return state
		}
		select {
		case <-now.More:
		case <-timeout:
			t.Fatalf("%d of %d events came", len(now.Events), n)
		}
	}
}

// becomes waits until the server has exactly the objects that the model predicts, and the unchanging objects of rest.
func becomes(t *testing.T, s *drive.Session, rest, want model.State) {
	t.Helper()
	base := list(t, s)
	for key := range rest {
		delete(base, key)
	}
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
	all := maps.Clone(rest)
	maps.Copy(all, want)
	if have := list(t, s); !have.Same(all) {
		t.Fatalf("it lists %d objects, not %d", len(have), len(all))
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

// disturb runs cascades, each interrupted by stop at a random moment, and restarts the server every time.
func disturb(t *testing.T, stop func(*process.Server) error, flags ...string) {
	t.Parallel()
	r := numbers(t)
	dir, client := t.TempDir(), &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	p := serve(t, dir, flags...)
	s, err := drive.Open(t.Context(), drive.Server{URL: p.URL, Client: client}, "f-", model.Kinds)
	if err != nil {
		t.Fatal(err)
	}
	rest := model.State{}
	for round := range *rounds {
		f, x, del, planted, end := predicted(r, round)
		name := fmt.Sprintf("seed %d, round %d: %s of %s", *seed, round, del.Policy, x)
		plant(t, s, f)
		silent := watchWithoutReading(t, p.URL)
		events(t, s, model.State{}, math.MaxInt, planted)
		take(t, s)
		at := strike(t, r, s, del, planted, end, func() {
			if err := stop(p); err != nil {
				t.Error(err)
			}
			silent()
			s.Close()
			client.CloseIdleConnections()
		})
		p = serve(t, dir, flags...)
		if s, err = drive.Resume(t.Context(), drive.Server{URL: p.URL, Client: client}, s); err != nil {
			t.Fatal(err)
		}
		if o, there := list(t, s)[del.Key]; there && !o.Deleting { // it had no effect
			at += ", the DELETE was lost"
			if a, err := s.Send(t.Context(), del); err != nil || a.Code != http.StatusOK {
				t.Fatalf("%s: %v, %v", del, a.Response, err)
			}
		}
		t.Logf("%s, %s", name, at)
		becomes(t, s, rest, end)
		take(t, s)
		maps.Copy(rest, end)
	}
	s.Close()
}

// strike sends the DELETE, and stops the server at a random moment: in one of four cases before the response, otherwise
// after a number of the cascade's events.
func strike(
	t *testing.T, r *rand.Rand, s *drive.Session, del model.Op, planted, end model.State, kill func(),
) (at string) {
	if r.IntN(4) > 0 {
		if a, err := s.Send(t.Context(), del); err != nil || a.Code != http.StatusOK {
			t.Fatalf("%s: %v, %v", del, a.Response, err)
		}
		deleted, _, _ := model.Apply(planted, del)
		_, all := model.Settle(deleted, model.First)
		n := r.IntN(len(all) + 1)
		events(t, s, planted, n, end)
		kill()
		return fmt.Sprintf("after %d events of about %d", n, len(all))
	}
	pause := time.Duration(r.IntN(3000)) * time.Microsecond
	var sending sync.WaitGroup
	sending.Go(func() { _, _ = s.Send(t.Context(), del) }) // its response may be lost
	time.Sleep(pause)
	kill()
	sending.Wait()
	return fmt.Sprintf("%v after the DELETE was sent", pause)
}

// take returns the events so far.
func take(t *testing.T, s *drive.Session) {
	t.Helper()
	now, err := s.Timeline()
	if err != nil {
		t.Fatal(err)
	}
	s.Take(len(now.Events))
}

// watchWithoutReading opens a watch that the test doesn't read; the returned function ends it.
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

func TestCascadeSurvivesKills(t *testing.T) { disturb(t, kill) }

// TestCascadeSurvivesCompactions compacts etcd every 100 ms.
func TestCascadeSurvivesCompactions(t *testing.T) {
	disturb(t, kill, "--etcd-compaction-interval=100ms")
}

// TestCascadeSurvivesRestarts stops the server, and its controllers, in order.
func TestCascadeSurvivesRestarts(t *testing.T) { disturb(t, (*process.Server).Stop) }

func kill(p *process.Server) error {
	p.Kill()
	return nil
}
