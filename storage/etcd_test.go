package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

func put(t *testing.T, s storage.Store, name string, expect int64, value string, ttl time.Duration) int64 {
	t.Helper()
	rev, err := s.Commit(
		t.Context(), storage.Txn{Key: "/registry/configmaps/default/" + name, Expect: expect, Value: []byte(value), TTL: ttl},
	)
	if err != nil {
		t.Fatalf("committing %s: %v", name, err)
	}
	return rev
}

func TestInvalidConfigIsNotOpened(t *testing.T) {
	for _, c := range []storage.Config{
		{},
		{Endpoints: []string{"http://127.0.0.1:1"}, DataDir: t.TempDir()},
		{Endpoints: []string{"http://127.0.0.1:1"}, Ephemeral: true},
		{Endpoints: []string{"https://127.0.0.1:1"}, CertFile: "cert.pem"},
		{Endpoints: []string{"https://127.0.0.1:1"}, CAFile: "/does/not/exist"},
	} {
		if e, err := storage.Open(t.Context(), c); err == nil {
			e.Close()
			t.Errorf("%+v was opened", c)
		}
	}
}

func TestDirectoryInUseIsAnError(t *testing.T) {
	c := storage.Config{DataDir: filepath.Join(t.TempDir(), "made", "data")}
	first := storagetest.OpenConfig(t, c)
	put(t, first, "a", 0, "x", 0)
	if _, err := storage.Open(t.Context(), c); !errors.Is(err, storage.ErrInUse) ||
		!strings.Contains(err.Error(), c.DataDir) {
		t.Errorf("opening again: %v", err)
	}
	first.Close()
	second := storagetest.OpenConfig(t, c)
	if r, err := second.Get(t.Context(), "/registry/configmaps/default/a"); err != nil || string(r.Value) != "x" {
		t.Errorf("after closing: %s, %v", r.Value, err)
	}
	if info, err := os.Stat(c.DataDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
}

func TestEphemeralLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	e := storagetest.OpenConfig(t, storage.Config{Ephemeral: true, DataDir: dir})
	put(t, e, "a", 0, "x", 0)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("while open: %v, %v", left, err)
	}
	e.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("after closing: %v, %v", left, err)
	}
}

func TestReopenedStoreHasAllRecords(t *testing.T) {
	c := storage.Config{DataDir: t.TempDir()}
	want := []storage.Record{}
	for round := range 4 {
		e := storagetest.OpenConfig(t, c)
		for i := range 40 * round { // more than etcd keeps in memory without a snapshot, in the end
			name := fmt.Sprintf("%d-%03d", round, i)
			rev := put(t, e, name, 0, "v", 0)
			want = append(
				want, storage.Record{Key: "/registry/configmaps/default/" + name, Value: []byte("v"), ModRevision: rev})
		}
		p, err := e.List(t.Context(), storage.Range{Prefix: "/registry/"})
		if diff := cmp.Diff(want, append([]storage.Record{}, p.Records...)); err != nil || diff != "" {
			t.Errorf("round %d: %v (-want +got):\n%s", round, err, diff)
		}
		e.Close()
	}
}

// TestKeysExpireInOwnRevisions: each key expires in a revision of its own, and a commit that conflicts leaves no lease.
func TestKeysExpireInOwnRevisions(t *testing.T) {
	e := storagetest.Open(t)
	l := storagetest.Watch(t, e)
	l.WaitForReset(1)
	put(t, e, "kept", put(t, e, "kept", 0, "x", time.Second), "y", 0)
	var last int64
	for i := range 5 {
		last = put(t, e, fmt.Sprint(i), 0, "x", 1500*time.Millisecond)
	}
	_, err := e.Commit(
		t.Context(), storage.Txn{Key: "/registry/configmaps/default/0", Value: []byte("y"), TTL: time.Second})
	if !errors.Is(err, storage.ErrConflict) {
		t.Errorf("second create: %v", err)
	}
	l.WaitFor(last + 5) // the removals
	removed := l.Events()[7:]
	for i, ev := range removed {
		if ev.Value != nil || ev.Revision != last+1+int64(i) {
			t.Errorf("event %d after the last write: %+v", i, ev)
		}
	}
	if s := l.State(); len(removed) != 5 || len(s) != 1 || string(s[0].Value) != "y" {
		t.Errorf("%d removals left %v", len(removed), s)
	}
}

func TestFullStoreStillReadsAndRemoves(t *testing.T) {
	e := storagetest.OpenConfig(
		t, storage.Config{Ephemeral: true, QuotaBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	first := put(t, e, "first", 0, "x", 0)
	var full error
	written := 0
	for full == nil && written < 1000 {
		_, full = e.Commit(
			t.Context(), storage.Txn{Key: fmt.Sprint("/registry/configmaps/default/", written), Value: make([]byte, 64<<10)},
		)
		if full == nil {
			written++
		}
	}
	if !errors.Is(full, storage.ErrNoSpace) {
		t.Fatalf("after %d commits: %v", written, full)
	}
	p, err := e.List(t.Context(), storage.Range{Prefix: "/registry/"})
	if err != nil || len(p.Records) != written+1 {
		t.Errorf("%d records of %d acknowledged, %v", len(p.Records), written+1, err)
	}
	if _, err := e.Commit(t.Context(), storage.Txn{Key: "/registry/configmaps/default/first", Expect: first}); err != nil {
		t.Errorf("removing: %v", err)
	}
	if _, err := e.Commit(t.Context(), storage.Txn{
		Key: "/registry/events/default/e", Value: make([]byte, 1<<20), TTL: time.Hour,
	}); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("with a lease: %v", err)
	}
}

func TestClosedStoreIsUnavailable(t *testing.T) {
	e := storagetest.Open(t)
	rev := put(t, e, "a", 0, "x", 0)
	following := make(chan struct{})
	ended := make(chan error)
	go func() {
		var once sync.Once
		ended <- e.Follow(t.Context(), func(storage.Batch) error { once.Do(func() { close(following) }); return nil })
	}()
	<-following
	var busy sync.WaitGroup
	for w := range 8 {
		busy.Go(func() {
			for i := 0; ; i++ {
				_, err := e.Commit(context.Background(),
					storage.Txn{Key: fmt.Sprintf("/registry/configmaps/default/%d-%d", w, i), Value: []byte("x")})
				if err == nil {
					_, err = e.Get(context.Background(), "/registry/configmaps/default/a")
				}
				if err != nil {
					if !errors.Is(err, storage.ErrUnavailable) {
						t.Errorf("while closing: %v", err)
					}
					return
				}
			}
		})
	}
	for range 2 {
		if err := e.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	busy.Wait()
	if err := <-ended; !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("follower: %v", err)
	}
	_, get := e.Get(t.Context(), "/registry/configmaps/default/a")
	_, list := e.List(t.Context(), storage.Range{Prefix: "/registry/"})
	_, commit := e.Commit(t.Context(), storage.Txn{Key: "/registry/configmaps/default/a", Expect: rev})
	_, revision := e.Revision(t.Context())
	follow := e.Follow(t.Context(), func(storage.Batch) error { t.Error("batch of a closed store"); return nil })
	exclude := e.Exclude(func(*storage.Exclusive) error { t.Error("a closed store for one caller"); return nil })
	for i, err := range []error{
		get, list, commit, revision, follow, exclude, e.Compact(t.Context(), rev), e.Save(t.Context(), io.Discard),
	} {
		if !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

// TestCanceledCallsReturnErrorOfContext: Follow returns only this error, and Save also ErrUnavailable.
func TestCanceledCallsReturnErrorOfContext(t *testing.T) {
	e := storagetest.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Follow(ctx, func(storage.Batch) error { return nil }); err != context.Canceled {
		t.Errorf("following: %v", err)
	}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		err := e.Save(ctx, writer(func(p []byte) (int, error) { cancel(); return len(p), nil }))
		if !errors.Is(err, storage.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Fatalf("saving: %v", err)
		}
	}
}

// writer is an io.Writer.
type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// held is a sink that keeps the state, and stops in the second batch until it may resume.
type held struct {
	blocked, resume chan struct{}
	batches         int
	state           map[string]int64
	// final is the revision to end at; it is set before resume is closed.
	final int64
}

var errFinal = errors.New("final revision reached")

func (h *held) sink(b storage.Batch) error {
	if h.batches++; h.batches == 2 {
		close(h.blocked)
		<-h.resume
	}
	if b.Reset {
		clear(h.state)
	}
	for _, ev := range b.Events {
		if h.state[ev.Key] = ev.Revision; ev.Value == nil {
			delete(h.state, ev.Key)
		}
	}
	if h.batches >= 2 && b.Revision >= h.final {
		return errFinal
	}
	return nil
}

// TestSlowFollowerGetsWholeState holds a follower up until history that it has not seen is compacted. etcd then
// can't tell it all that happened.
func TestSlowFollowerGetsWholeState(t *testing.T) {
	e := storagetest.Open(t)
	h := &held{blocked: make(chan struct{}), resume: make(chan struct{}), state: map[string]int64{}}
	ended := make(chan error)
	go func() { ended <- e.Follow(t.Context(), h.sink) }()
	for i, blocked := 0, false; !blocked; i++ { // until it has begun, and got one of these
		put(t, e, fmt.Sprint("first-", i), 0, "x", 0)
		select {
		case <-h.blocked:
			blocked = true
		default:
		}
	}
	var wg sync.WaitGroup
	for w := range 64 {
		wg.Go(func() {
			var rev int64
			for i := range 320 { // 64 * 320 is more than a watch and etcd's buffer hold
				rev = put(t, e, fmt.Sprint(w), rev, fmt.Sprint(i), 0)
			}
		})
	}
	wg.Wait()
	p, err := e.List(t.Context(), storage.Range{Prefix: "/registry/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(t.Context(), p.Revision); err != nil {
		t.Fatal(err)
	}
	h.final = p.Revision
	close(h.resume)
	if err := <-ended; err != errFinal {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for _, r := range p.Records {
		want[r.Key] = r.ModRevision
	}
	if diff := cmp.Diff(want, h.state); diff != "" {
		t.Errorf("state (-store +follower):\n%s", diff)
	}
}

// TestCorruptValue lists and follows a value that can't be decoded.
func TestCorruptValue(t *testing.T) {
	e := storagetest.Open(t)
	put(t, e, "bad", 0, "\x00\xffnot json", 0)
	put(t, e, "good", 0, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"good"}}`, 0)
	l := storagetest.Watch(t, e)
	l.WaitForReset(1)
	d := storage.Decoder{Root: storage.DefaultRoot}
	for _, r := range l.State() {
		o := d.Decode(r)
		if bad := o.Meta.Name == "bad"; bad != errors.Is(o.Err, storage.ErrCorrupt) || o.Meta.Namespace != "default" ||
			bad == (o.JSON != nil) {
			t.Errorf("%s: %+v", r.Key, o)
		}
	}
	if n := len(l.State()); n != 2 {
		t.Errorf("%d records", n)
	}
}

// TestStartAndStopLogNothing starts and stops without a word.
func TestStartAndStopLogNothing(t *testing.T) {
	var out bytes.Buffer // slog's handler has a lock
	logger := slog.New(slog.NewTextHandler(&out, nil))
	for _, c := range []storage.Config{{Ephemeral: true, Logger: logger}, {DataDir: t.TempDir(), Logger: logger}} {
		e := storagetest.OpenConfig(t, c)
		put(t, e, "a", 0, "x", 0)
		e.Close()
	}
	if out.Len() > 0 {
		t.Errorf("log:\n%s", out.String())
	}
}
