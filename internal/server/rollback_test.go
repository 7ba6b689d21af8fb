package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/internal/checkpoint"
	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
)

// stored returns the values in etcd at a revision, by key.
func (s *settling) stored(revision int64) map[string]string {
	s.t.Helper()
	page, err := s.data.store.List(s.t.Context(), storage.Range{Prefix: "/registry/", Revision: revision})
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range page.Records {
		out[r.Key] = string(r.Value)
	}
	return out
}

// shown returns the objects in the cache at a revision, with their revisions. Collections that have none now may have
// had those that are stored.
func (s *settling) shown(revision int64, stored map[string]string) map[string]int64 {
	s.t.Helper()
	out, collections := map[string]int64{}, map[string]bool{}
	for key := range stored {
		collection, _, _ := storage.Collection("/registry", key)
		collections[collection] = true
	}
	_, all := s.data.cache.Everything()
	for _, snap := range all {
		collections[snap.Collection()] = true
	}
	for collection := range collections {
		snap, err := s.data.cache.Snapshot(collection, revision)
		if err != nil {
			s.t.Fatal(err)
		}
		for o := range snap.Ascend("", "") {
			out[o.Key] = o.Revision
		}
	}
	return out
}

// change is Checkpoint or Rollback, which must succeed.
func (s *settling) change(do func(context.Context, string) (*checkpoint.Result, error), name string) *checkpoint.Result {
	s.t.Helper()
	c, err := do(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// newest returns the store's revision.
func (s *settling) newest() int64 {
	s.t.Helper()
	rev, err := s.data.store.Revision(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return rev
}

// state is what a checkpoint has to bring back. What was not written since the revision stays as it is.
type state struct {
	revision int64
	values   map[string]string
}

// checkRollback goes back to a checkpoint, and compares what is stored byte by byte.
func (s *settling) checkRollback(name string, to *state) {
	s.t.Helper()
	before := s.newest()
	r := s.change(s.Rollback, name)
	if r.Revision <= before && to.revision != before { // without a change since the checkpoint nothing is written
		s.t.Fatalf("the state after the rollback is at revision %d, and that before was at %d", r.Revision, before)
	}
	if diff := cmp.Diff(to.values, s.stored(r.Revision)); diff != "" {
		s.t.Fatalf("rollback to %q: %s", name, diff)
	}
	shown := s.shown(r.Revision, to.values)
	for key := range to.values {
		if shown[key] == 0 {
			s.t.Errorf("the cache does not have %s", key)
		}
	}
	for key, revision := range shown {
		if _, ok := to.values[key]; !ok {
			s.t.Errorf("the cache has %s", key)
		}
		if revision > to.revision && revision <= before {
			s.t.Errorf("%s has revision %d of a state that is gone (%d to %d)", key, revision, to.revision, before)
		}
	}
	to.revision = r.Revision
}

// TestRollbackRandom: after random operations a rollback brings back every byte, during cascades, deletions of
// namespaces and of CRDs, to the last checkpoint or another, several times. The controllers then do what they would do
// on any server: all is settled, nothing is left behind. ROUNDS is how many rollbacks there are.
func TestRollbackRandom(t *testing.T) {
	rounds := 12
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil {
		rounds = n
	}
	s := startSettling(t)
	random := rand.New(rand.NewPCG(seed.Of(t), 0))
	o := &operations{settling: s, rand: random}
	states := map[string]*state{}
	checkpoint := func(name string) {
		c := s.change(s.Checkpoint, name)
		states[name] = &state{c.Revision, s.stored(c.Revision)}
	}
	checkpoint("a")
	for i := range rounds {
		for range random.IntN(40) {
			o.next()
		}
		if random.IntN(3) == 0 {
			s.settled()
		}
		if random.IntN(3) == 0 {
			checkpoint(o.pick("a", "b", "c"))
			continue
		}
		name := o.pick("a", "b", "c")
		if _, ok := states[name]; !ok {
			continue
		}
		s.checkRollback(name, states[name])
		if random.IntN(2) == 0 {
			s.settled()
			s.checkDangling()
		}
		if t.Failed() {
			t.Fatalf("round %d", i)
		}
	}
	s.settled()
	s.checkDangling()
}

// checkDangling checks that no object is left all of whose owners are gone, unless it waits for a finalizer.
func (s *settling) checkDangling() {
	s.t.Helper()
	uids, all := map[string]bool{}, []*storage.Object{}
	_, state := s.data.cache.Everything()
	for _, snap := range state {
		for o := range snap.Ascend("", "") {
			uids[o.Meta.UID] = true
			all = append(all, o)
		}
	}
	for _, o := range all {
		owned := len(o.Meta.Owners) > 0
		for _, owner := range o.Meta.Owners {
			owned = owned && !uids[owner.UID]
		}
		if owned && len(o.Meta.Finalizers) == 0 && o.Meta.Kind != "Event" {
			s.t.Errorf("%s is left, and none of its owners: %s", o.Key, o.JSON)
		}
	}
}

// TestRollbackOwners: objects that the collector has deleted with their owner are kept after a rollback, as the owner
// exists again, with its uid. When it is deleted again, they go again.
func TestRollbackOwners(t *testing.T) {
	s := startSettling(t)
	const maps = "/api/v1/namespaces/default/configmaps"
	_, data := s.do("POST", maps, named("owner", nil))
	var owner metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &owner); err != nil {
		t.Fatal(err)
	}
	ref := object{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.UID, "blockOwnerDeletion": true}
	for i := range 20 {
		s.do("POST", maps, named(fmt.Sprint("d", i), object{"ownerReferences": []object{ref}}))
	}
	s.settled()
	c := s.change(s.Checkpoint, "")
	at := &state{c.Revision, s.stored(c.Revision)}
	for _, policy := range []string{"Background", "Foreground", "Orphan"} {
		s.do("DELETE", maps+"/owner", object{"propagationPolicy": policy})
		s.settled()
		s.expect(http.StatusNotFound, "GET", maps+"/owner", nil)
		s.checkRollback("", at)
		s.settled()
		if diff := cmp.Diff(at.values, s.stored(0)); diff != "" {
			t.Fatalf("%s: after the rollback the controllers have changed %s", policy, diff)
		}
	}
	s.do("DELETE", maps+"/owner", nil)
	s.settled()
	s.expect(http.StatusNotFound, "GET", maps+"/d7", nil)
}

// TestRollbackTypes: CRDs that were created since are no longer served, and their objects are gone; those that were
// deleted since are served again, with their objects.
func TestRollbackTypes(t *testing.T) {
	s := startSettling(t)
	o := &operations{settling: s, rand: rand.New(rand.NewPCG(1, 1))}
	define := func(plural, kind string) {
		o.send("POST", crds, newDefinition(plural, kind, "Cluster"))
		s.settled()
		thing := object{"apiVersion": "example.com/v1", "kind": kind, "metadata": object{"name": "x"}}
		s.expect(http.StatusCreated, "POST", "/apis/example.com/v1/"+plural, thing)
	}
	define("olds", "Old")
	s.do("POST", "/api/v1/namespaces", named("ends", nil))
	s.do("POST", "/api/v1/namespaces/ends/configmaps", named("c", object{"finalizers": []string{"example.com/hold"}}))
	s.settled()
	c := s.change(s.Checkpoint, "")
	at := &state{c.Revision, s.stored(c.Revision)}
	define("news", "New")
	s.do("DELETE", crds+"/olds.example.com", nil)
	s.do("DELETE", "/api/v1/namespaces/ends", nil)
	s.settled()
	s.expect(http.StatusNotFound, "GET", "/apis/example.com/v1/olds/x", nil)
	s.checkRollback("", at)
	for path, want := range map[string]int{
		"/apis/example.com/v1/news": 404, "/apis/example.com/v1/olds/x": 200, "/api/v1/namespaces/ends/configmaps/c": 200,
	} {
		s.expect(want, "GET", path, nil)
	}
	code, data := s.do("GET", "/apis/example.com/v1", nil)
	if code != 200 || !strings.Contains(string(data), `"olds"`) || strings.Contains(string(data), `"news"`) {
		t.Errorf("discovery: %d %s", code, data)
	}
	s.expect(http.StatusCreated, "POST", "/api/v1/namespaces/ends/configmaps", named("d", nil))
	define("news", "New")
	s.settled()
}

// TestRollbackAllocations: addresses that Services have got since are free again, and those of restored ones are taken.
func TestRollbackAllocations(t *testing.T) {
	s := startSettling(t)
	const services = "/api/v1/namespaces/default/services"
	service := func(name, ip string, port int) object {
		return specified(name,
			object{"type": "NodePort", "clusterIP": ip, "ports": []object{{"port": 80, "nodePort": port}}})
	}
	s.do("POST", services, service("kept", "10.0.0.100", 30100))
	s.change(s.Checkpoint, "")
	s.do("DELETE", services+"/kept", nil)
	s.do("POST", services, service("new", "10.0.0.101", 30101))
	s.change(s.Rollback, "")
	for _, c := range []struct {
		name, ip string
		port     int
		want     int
	}{{"other", "10.0.0.100", 0, 422}, {"other", "", 30100, 422}, {"other", "10.0.0.101", 30101, 201}} {
		o := service(c.name, c.ip, c.port)
		if c.port == 0 {
			o["spec"] = object{"clusterIP": c.ip, "ports": []object{{"port": 80}}}
		}
		s.expect(c.want, "POST", services, o)
	}
}

// TestRollbackExpires: watches end with 410, and requests with earlier revisions and tokens get 410, so that clients
// list again.
func TestRollbackExpires(t *testing.T) {
	s := startSettling(t)
	const maps = "/api/v1/namespaces/default/configmaps"
	for i := range 3 {
		s.do("POST", maps, named(fmt.Sprint("c", i), nil))
	}
	s.settled()
	s.change(s.Checkpoint, "")
	s.do("POST", maps, named("new", nil))
	_, data := s.do("GET", maps+"?limit=1", nil)
	var page metav1.PartialObjectMetadataList
	if err := json.Unmarshal(data, &page); err != nil || page.Continue == "" {
		t.Fatalf("%s %v", data, err)
	}
	watches := map[string]*bufio.Scanner{}
	for _, path := range []string{maps, "/api/v1/secrets", "/apis/apps/v1/deployments"} { // the last two don't change
		res, err := http.Get(s.InsecureURL() + path + "?watch=1&resourceVersion=" + page.ResourceVersion)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		watches[path] = bufio.NewScanner(res.Body)
	}
	r := s.change(s.Rollback, "")
	type event struct {
		Type   string
		Object metav1.Status
	}
	expired := func(what string, data []byte) {
		t.Helper()
		var e event
		if err := json.Unmarshal(data, &e); err != nil || e.Type != "ERROR" || e.Object.Code != http.StatusGone ||
			e.Object.Reason != metav1.StatusReasonExpired {
			t.Errorf("%s: %s", what, data)
		}
	}
	for path, lines := range watches {
		if !lines.Scan() {
			t.Fatalf("the watch of %s ends without an event: %v", path, lines.Err())
		}
		expired("watch of "+path, lines.Bytes())
		if lines.Scan() {
			t.Errorf("the watch of %s goes on: %s", path, lines.Text())
		}
		_, data := s.do("GET", path+"?watch=1&timeoutSeconds=5&resourceVersion="+page.ResourceVersion, nil)
		expired("a new watch of "+path, data)
	}
	for _, query := range []string{
		"?limit=1&continue=" + url.QueryEscape(page.Continue),
		"?resourceVersionMatch=Exact&resourceVersion=" + page.ResourceVersion,
	} {
		s.expect(http.StatusGone, "GET", maps+query, nil)
	}
	code, data := s.do("GET", maps+"?resourceVersionMatch=Exact&resourceVersion="+strconv.FormatInt(r.Revision, 10), nil)
	if code != http.StatusOK || strings.Contains(string(data), `"new"`) {
		t.Errorf("the state after the rollback: %d %s", code, data)
	}
}

// TestRollbackWriters: a write that is answered has a revision before the rollback, and is undone, or after it, and
// stays, while writers go on without pause. Readers see the state before or that after, and no part of either.
func TestRollbackWriters(t *testing.T) {
	s := startSettling(t)
	const maps = "/api/v1/namespaces/default/configmaps"
	for i := range 50 {
		s.do("POST", "/api/v1/namespaces/default/secrets", named(fmt.Sprint("pair", i), object{"labels": object{"v": "1"}}))
	}
	s.settled()
	s.change(s.Checkpoint, "")
	for i := range 50 {
		s.do("PATCH", "/api/v1/namespaces/default/secrets/pair"+fmt.Sprint(i),
			object{"metadata": object{"labels": object{"v": "2"}}})
	}
	s.settled() // a reader of the cache sees the last one, too
	type written struct {
		name     string
		revision int64
	}
	var writers sync.WaitGroup
	var stop atomic.Bool
	results := make([][]written, 6)
	wrote := make(chan struct{})
	failures := make(chan string, 100)
	note := func(format string, args ...any) {
		select {
		case failures <- fmt.Sprintf(format, args...):
		default:
		}
	}
	for w := range results {
		writers.Go(func() {
			for i := 0; !stop.Load(); i++ {
				name := fmt.Sprintf("w%d-%d", w, i)
				code, data := s.do("POST", maps, named(name, nil))
				var m metav1.PartialObjectMetadata
				if err := json.Unmarshal(data, &m); code != http.StatusCreated || err != nil {
					note("%s: %d %s", name, code, data)
					return
				}
				revision, err := strconv.ParseInt(m.ResourceVersion, 10, 64)
				if err != nil {
					note("%s: %v", name, err)
				}
				results[w] = append(results[w], written{name, revision})
				select {
				case wrote <- struct{}{}:
				default:
				}
			}
		})
	}
	for _, query := range []string{"", "&resourceVersion=0"} {
		writers.Go(func() {
			for !stop.Load() {
				_, data := s.do("GET", "/api/v1/namespaces/default/secrets?labelSelector=v"+query, nil)
				if one, two := strings.Count(string(data), `"v":"1"`), strings.Count(string(data), `"v":"2"`); one+two != 50 ||
					one != 0 && two != 0 {
					note("a reader with %q sees %d of the one state and %d of the other", query, one, two)
				}
			}
		})
	}
	var last int64
	for range 10 {
		for range 20 { // others write
			<-wrote
		}
		last = s.change(s.Rollback, "").Revision
	}
	stop.Store(true)
	writers.Wait()
	close(failures)
	for f := range failures {
		t.Error(f)
	}
	_, data := s.do("GET", maps, nil)
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for i := range list.Items {
		there[list.Items[i].Name] = true
	}
	early, late := 0, 0
	for _, all := range results {
		for _, w := range all {
			if w.revision > last {
				late++
			} else {
				early++
			}
			if there[w.name] != (w.revision > last) {
				t.Errorf("%s was written at %d, the last rollback was at %d, there: %v", w.name, w.revision, last, there[w.name])
			}
		}
	}
	if early == 0 {
		t.Error("no write was undone")
	}
	t.Logf("%d writes were undone, %d stay", early, late)
}

// TestRollbackClock: the clock and the trail are those of the checkpoint.
func TestRollbackClock(t *testing.T) {
	s := startSettling(t)
	s.do("POST", "/api/v1/namespaces/default/configmaps", named("c", nil))
	s.change(s.Checkpoint, "")
	if err := s.Advance(48 * time.Hour); err != nil {
		t.Fatal(err)
	}
	s.do("DELETE", "/api/v1/namespaces/default/configmaps/c", nil)
	s.settled()
	s.change(s.Rollback, "")
	if ahead := time.Until(s.Now()); ahead > time.Minute {
		t.Errorf("the clock is %v ahead", ahead)
	}
	s.expect(http.StatusNotFound, "GET", "/kubecascade/v1/trail?kind=ConfigMap&name=c", nil)
}

// TestRollbackExpiring: an Event that was deleted since is there again, and has a lease.
func TestRollbackExpiring(t *testing.T) {
	s := startSettling(t, func(c *Config) { c.API.EventTTL = 2 * time.Second })
	const events = "/api/v1/namespaces/default/events"
	event := named("e", nil)
	event["involvedObject"] = object{"kind": "ConfigMap", "namespace": "default", "name": "c"}
	s.expect(http.StatusCreated, "POST", events, event)
	s.change(s.Checkpoint, "")
	s.do("DELETE", events+"/e", nil)
	s.change(s.Rollback, "")
	w, err := s.data.cache.Watch("events", s.newest())
	if err != nil {
		t.Fatal(err)
	}
	s.expect(http.StatusOK, "GET", events+"/e", nil)
	for { // it expires
		all, _, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Object.Meta.Name == "e" {
				return
			}
		}
	}
}

// TestRollbackElection: a server that needs the lease of the controllers has it again after a rollback, even to a state
// in which another one had it.
func TestRollbackElection(t *testing.T) {
	s := startSettling(t, elect)
	s.change(s.Checkpoint, "")
	for range 3 {
		s.change(s.Rollback, "")
		s.expect(http.StatusOK, "GET", "/kubecascade/v1/settled?timeout=60s", nil)
	}
}

// TestCheckpointErrors: invalid names, too many checkpoints, and servers without checkpoints.
func TestCheckpointErrors(t *testing.T) {
	s := startSettling(t)
	post := func(path string, want int, contains string) {
		t.Helper()
		s.expect(want, "POST", "/kubecascade/v1/"+path, nil, contains)
	}
	post("rollback", 404, "there is no checkpoint yet")
	post("checkpoints", 200, `{"name":"default","revision":`)
	post("checkpoints?name="+strings.Repeat("x", 254), 400, "at most 253 bytes")
	post("checkpoints?name=a%0ab", 400, "no control characters")
	for i := range 15 {
		post("checkpoints?name=n"+strconv.Itoa(i), 200, fmt.Sprintf(`{"name":"n%d",`, i))
	}
	post("checkpoints?name=one-more", 403, "there are 16 checkpoints already")
	post("checkpoints?name=n3", 200, `"n3"`)
	post("rollback?name=other", 404, `but there are: default, n0, n1, n10, n11, n12, n13, n14, n2`)
	post("rollback", 200, `{"name":"n3",`)
	other := startSettling(t, func(c *Config) { c.Dir = t.TempDir() })
	other.expect(http.StatusForbidden, "POST", "/kubecascade/v1/checkpoints", nil,
		"with --data-dir the data outlives the server")
}

// TestStopDuringRollbacks: a server stops while others roll back, and leaves nothing.
func TestStopDuringRollbacks(t *testing.T) {
	c := config()
	s, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Checkpoint(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	rolledBack := make(chan error, 3)
	for range 3 {
		all.Go(func() {
			for {
				_, err := s.Rollback(t.Context(), "")
				select {
				case rolledBack <- err:
				default:
				}
				if err != nil {
					if !apierrors.IsServiceUnavailable(err) {
						t.Errorf("a rollback: %v", err)
					}
					return
				}
			}
		})
	}
	for n := 0; n < 5 && err == nil; n++ {
		err = <-rolledBack
	}
	if err = errors.Join(err, s.Stop()); err != nil {
		t.Error(err)
	}
	all.Wait()
}
