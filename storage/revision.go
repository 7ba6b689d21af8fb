package storage

import (
	"context"
	"fmt"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// Revision implements Store. The embedded server's revision is read from its memory; see rangeRequest for why that is
// linearizable. An external cluster is asked once for all waiting callers.
func (e *Etcd) Revision(ctx context.Context) (int64, error) {
	if err := e.beginRequest(ctx); err != nil {
		return 0, err
	}
	if e.local != nil {
		rev := e.local.Etcd().KV().Rev()
		e.endRequest()
		e.ask(rev)
		return rev, nil
	}
	done := e.reads.join(e)
	e.endRequest()
	select {
	case <-done.ready:
	case <-ctx.Done():
		return 0, fmt.Errorf("reading the revision: %w: %w", ErrUnavailable, ctx.Err())
	}
	if done.err == nil {
		e.ask(done.rev)
	}
	return done.rev, done.err
}

// readRevision reads the revision of an external cluster. It reads a key that even a user with access to no other key
// may read.
func (e *Etcd) readRevision(ctx context.Context) (int64, error) {
	resp, err := e.rpc.Range(ctx, &pb.RangeRequest{Key: []byte(e.root + "/"), KeysOnly: true})
	if err != nil {
		return 0, fmt.Errorf("reading the revision: %w", failure(ctx, err))
	}
	return resp.Header.Revision, nil
}

// sharedRead reads the revision once for all callers that asked before the read began. A caller never joins an active
// read: that may be older than a write that the caller knows of.
type sharedRead struct {
	mu sync.Mutex // guards the fields below
	// next is the read that has not begun; nil if no caller waits for one.
	next    *revisionRead
	running bool
}

// revisionRead is one read; rev and err are set when ready is closed.
type revisionRead struct {
	ready chan struct{}
	rev   int64
	err   error
}

// join returns a read that begins after the call. The caller is within beginRequest and endRequest.
func (s *sharedRead) join(e *Etcd) *revisionRead {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = &revisionRead{ready: make(chan struct{})}
	}
	if !s.running {
		s.running = true
		e.work.Go(func() { s.run(e) })
	}
	return s.next
}

// run reads until no caller waits.
func (s *sharedRead) run(e *Etcd) {
	for {
		s.mu.Lock()
		r := s.next
		s.next = nil
		s.running = r != nil
		s.mu.Unlock()
		if r == nil {
			return
		}
		ctx, cancel := context.WithTimeout(e.life, dialTimeout)
		r.rev, r.err = e.readRevision(ctx)
		cancel()
		close(r.ready)
	}
}

// Compact implements Store. It is no error if history before rev is compacted already.
func (e *Etcd) Compact(ctx context.Context, rev int64) error {
	if err := e.writable(); err != nil {
		return err
	}
	if err := e.beginRequest(ctx); err != nil {
		return err
	}
	defer e.endRequest()
	_, err := e.rpc.Compact(ctx, &pb.CompactionRequest{Revision: rev})
	if err != nil && rpctypes.Error(err) != rpctypes.ErrCompacted {
		return fmt.Errorf("compacting to revision %d: %w", rev, failure(ctx, err))
	}
	return nil
}
