package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// history is what this process knows of an external cluster's history. It detects that the cluster was set back: that a
// backup was restored, or the data directory was replaced, behind the same endpoints. What this process and its clients
// know is then not part of etcd's history, so the process must end.
//
// There are three proofs. First, another cluster id. Second, a linearizable answer with a smaller revision than one
// that was known before the request was sent. Every revision that etcd names in any message of any member is committed,
// so a later linearizable request sees it; an answer is only compared with what was known before its own request, as
// answers may overtake one another. Third, an event that was seen and isn't in etcd's history at its revision, as other
// servers may have written since.
type history struct {
	// seen is the greatest revision that etcd has named.
	seen atomic.Int64
	// latest is the newest event that a follower has received; nil before the first.
	latest atomic.Pointer[Event]

	// doubts counts the connections whose member could not be verified, because etcd has compacted the latest event.
	doubts atomic.Int64
	// doubted is called after each. inDoubt reports whether a doubt is left that no whole state has settled.
	doubted func()
	inDoubt func() bool

	// stop closes all connections, and so ends the requests that wait for one. fatal is Config.Fatal.
	stop  func()
	fatal func(error)
	// serving says that Open has returned, so that fatal may be called.
	serving atomic.Bool

	mu      sync.Mutex // guards the fields below
	cluster uint64     // 0 before the first answer
	// lost is why the process must end; nil while there is no reason. over is closed when it is set.
	lost error
	over chan struct{}
}

func newHistory(fatal func(error)) *history {
	return &history{fatal: fatal, over: make(chan struct{})}
}

// learn records a revision that etcd has named.
func (h *history) learn(rev int64) {
	for old := h.seen.Load(); old < rev && !h.seen.CompareAndSwap(old, rev); old = h.seen.Load() {
	}
}

// saw records an event, without its value, that a follower receives.
func (h *history) saw(ev Event) {
	if ev.Value != nil {
		ev.Value = []byte{}
	}
	for old := h.latest.Load(); old == nil || old.Revision < ev.Revision; old = h.latest.Load() {
		if h.latest.CompareAndSwap(old, &ev) {
			return
		}
	}
}

// same returns an ErrSetBack if the header has another cluster's id. 0 is no id.
func (h *history) same(header *pb.ResponseHeader) error {
	id := header.GetClusterId()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cluster == 0 {
		h.cluster = id
	}
	if id != h.cluster && id != 0 {
		return fmt.Errorf("%w: its cluster id is %x and was %x", ErrSetBack, id, h.cluster)
	}
	return nil
}

// follows returns an ErrSetBack if the header of a linearizable answer is older than what was known when the request
// was sent. Otherwise it records the revision.
func (h *history) follows(known int64, header *pb.ResponseHeader) error {
	err := h.compare(known, header)
	if err == nil {
		h.learn(header.GetRevision())
	}
	return err
}

// compare is follows without recording the revision.
func (h *history) compare(known int64, header *pb.ResponseHeader) error {
	if err := h.same(header); err != nil {
		return err
	}
	if rev := header.GetRevision(); rev < known {
		return fmt.Errorf("%w: it is at revision %d and was at %d", ErrSetBack, rev, known)
	}
	return nil
}

// begin returns the greatest known revision before a request is sent, or why no request may be sent any more.
func (h *history) begin() (known int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen.Load(), h.lost
}

// end checks the result of a linearizable request, and returns its error. rev is the requested revision, if any.
func (h *history) end(known, rev int64, header *pb.ResponseHeader, err error) error {
	switch {
	case err == nil:
		err = h.follows(known, header)
	case rpctypes.Error(err) == rpctypes.ErrFutureRev && 0 < rev && rev <= known:
		err = fmt.Errorf("%w: revision %d, which was there, is in its future", ErrSetBack, rev)
	}
	if errors.Is(err, ErrSetBack) {
		h.fail(err)
	}
	if err != nil {
		if _, lost := h.begin(); lost != nil {
			return lost // instead of that the connection was closed
		}
	}
	return err
}

// fail makes all requests fail with err from now on.
func (h *history) fail(err error) {
	h.mu.Lock()
	first := h.lost == nil
	if first {
		h.lost = err
		close(h.over)
	}
	h.mu.Unlock()
	if first && h.serving.Load() {
		go h.stop() // gRPC may be waiting for this goroutine
		h.fatal(err)
	}
}

// check asks a member whether it has the known history. It reads root if no event is known. If the event is compacted,
// that can't be decided; this is no error, but a doubt. The revision of a member with another history is not recorded:
// the others never reach it.
func (h *history) check(ctx context.Context, kv pb.KVClient, root string) (doubt bool, err error) {
	known, ev := h.seen.Load(), h.latest.Load()
	q := &pb.RangeRequest{Key: []byte(root + "/"), KeysOnly: true}
	if ev != nil {
		q.Key = []byte(ev.Key)
	}
	resp, err := kv.Range(ctx, q)
	if err == nil {
		err = h.compare(known, resp.Header)
	}
	switch {
	case err != nil:
		return false, err
	case ev == nil:
	case len(resp.Kvs) > 0 && resp.Kvs[0].ModRevision <= ev.Revision:
		err = ev.found(modified(resp) == ev.Revision && ev.Value != nil)
	default:
		err = ev.check(ctx, kv)
	}
	if rpctypes.Error(err) == rpctypes.ErrCompacted {
		doubt, err = true, nil
	}
	if err == nil {
		h.learn(resp.Header.GetRevision())
	}
	return doubt, err
}

// doubt makes followers read the whole state before anything else is written.
func (h *history) doubt() {
	h.doubts.Add(1)
	h.doubted()
}

// check looks up the event in etcd's history, which may be compacted.
func (ev *Event) check(ctx context.Context, kv pb.KVClient) error {
	at := func(rev int64) (int64, error) {
		resp, err := kv.Range(ctx, &pb.RangeRequest{Key: []byte(ev.Key), KeysOnly: true, Revision: rev})
		return modified(resp), err
	}
	is, err := at(ev.Revision)
	was := int64(0)
	if err == nil && ev.Value == nil {
		was, err = at(ev.Revision - 1)
	}
	switch {
	case err != nil:
		return err
	case ev.Value == nil:
		return ev.found(is == 0 && was != 0)
	}
	return ev.found(is == ev.Revision)
}

// found returns an ErrSetBack if ok is false.
func (ev *Event) found(ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%w: the write of %s at revision %d is not in its history", ErrSetBack, ev.Key, ev.Revision)
}

// modified is the mod revision of the single key that was read, 0 if it is absent.
func modified(resp *pb.RangeResponse) int64 {
	if kvs := resp.GetKvs(); len(kvs) > 0 {
		return kvs[0].ModRevision
	}
	return 0
}
