package storage

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

// Etcd is the Store, over an embedded etcd or an external cluster.
type Etcd struct {
	root string
	log  *slog.Logger
	// readOnly is Config.ReadOnly.
	readOnly string
	client   *clientv3.Client
	leases   pb.LeaseClient
	// local is set if etcd is embedded, external if it is not.
	local    *embedded.Server
	external *external

	reads     sharedRead
	followers followers

	// floor is the oldest revision that may be read, even if etcd's history begins earlier.
	floor atomic.Int64

	// life is done when Close begins, or when an external cluster was set back; end ends it with the reason.
	life context.Context
	end  context.CancelCauseFunc
	// work counts followers and the goroutine that frees space. Close waits for them.
	work sync.WaitGroup
	// Every request holds mu for reading, so that Close and Exclude wait for requests: etcd's database must not be read
	// after it is closed. mu guards closed.
	mu     sync.RWMutex
	closed bool
}

var _ Store = (*Etcd)(nil)

// errClosed is the reason for which requests fail after Close.
var errClosed = fmt.Errorf("%w: closed", ErrUnavailable)

// Open starts or connects to etcd and returns when it answers. ctx limits the wait. Errors: ErrInUse at once if another
// process, or another Etcd, uses the directory; ErrUnavailable if an external cluster doesn't answer; ErrVersion and
// ErrCluster if one of the members that answer can't be used.
func Open(ctx context.Context, c Config) (*Etcd, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Etcd{root: c.Root, log: c.Logger, readOnly: c.ReadOnly}
	e.life, e.end = context.WithCancelCause(context.Background())
	if len(c.Endpoints) > 0 {
		if err := e.connect(ctx, c); err != nil {
			return nil, err
		}
		return e, nil
	}
	if e.local, err = embedded.Start(ctx, c.embedded()); err != nil {
		return nil, err
	}
	e.client, e.leases = e.local.Client()
	e.work.Go(func() { e.local.Reclaim(e.life) })
	return e, nil
}

// Close ends all followers, waits for active requests, and stops an embedded etcd. An error reports that etcd did not
// stop properly, which loses no data. Later requests fail with ErrUnavailable. Close may be called more than once, but
// not by a follower's sink.
func (e *Etcd) Close() error {
	e.end(errClosed)
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	e.mu.Unlock()
	e.work.Wait()
	if first && e.local != nil {
		return e.local.Stop()
	}
	return nil
}

// beginRequest begins a request, unless the store is closed or ctx is done; endRequest ends it.
func (e *Etcd) beginRequest(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	e.mu.RLock()
	if e.life.Err() != nil {
		e.mu.RUnlock()
		return e.ended()
	}
	return nil
}

func (e *Etcd) endRequest() { e.mu.RUnlock() }

// beginWrite is beginRequest for a write; a read-only store returns ErrReadOnly.
func (e *Etcd) beginWrite(ctx context.Context) error {
	if e.readOnly != "" {
		return fmt.Errorf("%w: %s", ErrReadOnly, e.readOnly)
	}
	return e.beginRequest(ctx)
}
