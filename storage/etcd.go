package storage

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

// Etcd is the Store, over an embedded etcd or an external cluster.
type Etcd struct {
	root string
	log  *slog.Logger
	// readOnly is Config.ReadOnly.
	readOnly string
	rpc      requests
	// local is set if etcd is embedded, external if it is not.
	local    *embedded.Server
	external *external

	reads sharedRead
	// asked is the greatest revision that Revision has returned. Followers must reach it.
	asked atomic.Int64

	// floor is the revision before which nothing is read, whatever etcd's history has.
	floor atomic.Int64

	// life is done when Close begins, or when an external cluster was set back; end ends it with the reason.
	life context.Context
	end  context.CancelCauseFunc
	// work counts followers, shared reads and the goroutine that frees space. Close waits for them.
	work sync.WaitGroup
	// mu is held for reading during every request, so that Close waits for them, and Exclude: etcd's database must not be
	// read once it is closed. It guards closed and followers.
	mu     sync.RWMutex
	closed bool
	// followers is replaced as a whole, so that it can be read without the lock.
	followers atomic.Pointer[[]*follower]
}

var _ Store = (*Etcd)(nil)

// errClosed is the error of requests after Close.
var errClosed = fmt.Errorf("%w: closed", ErrUnavailable)

// requests are the calls of etcd's API that the store makes; the errors are those of its gRPC API.
type requests interface {
	Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error)
	Txn(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error)
	Compact(context.Context, *pb.CompactionRequest) (*pb.CompactionResponse, error)
	LeaseGrant(context.Context, *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error)
	LeaseRevoke(context.Context, *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error)
}

// inProcess calls the embedded server as its gRPC server would.
type inProcess struct {
	pb.KVServer
	leases pb.LeaseServer
}

func (p inProcess) LeaseGrant(ctx context.Context, q *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	return p.leases.LeaseGrant(ctx, q)
}

func (p inProcess) LeaseRevoke(ctx context.Context, q *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	return p.leases.LeaseRevoke(ctx, q)
}

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
	e.followers.Store(new([]*follower))
	if len(c.Endpoints) > 0 {
		if err := e.connect(ctx, c); err != nil {
			return nil, err
		}
		return e, nil
	}
	if e.local, err = embedded.Start(ctx, c.embedded()); err != nil {
		return nil, err
	}
	s := e.local.Etcd()
	e.rpc = inProcess{KVServer: v3rpc.NewKVServer(s), leases: v3rpc.NewLeaseServer(s)}
	e.work.Go(func() { e.local.Reclaim(e.life) })
	return e, nil
}

// Close ends all followers, waits for active requests, and stops an embedded etcd. An error says that etcd did not stop
// properly, which loses no data. Later requests fail with ErrUnavailable. Close may be called more than once, but not
// by a follower's sink.
func (e *Etcd) Close() error {
	e.end(errClosed)
	if e.external != nil {
		e.external.close()
	}
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
		return unavailable(context.Cause(e.life))
	}
	return nil
}

// writable returns an error if the store is read-only.
func (e *Etcd) writable() error {
	if e.readOnly != "" {
		return fmt.Errorf("%w: %s", ErrReadOnly, e.readOnly)
	}
	return nil
}

func (e *Etcd) endRequest() { e.mu.RUnlock() }
