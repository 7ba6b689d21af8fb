package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

const (
	// writeOverhead is the number of bytes that a write takes in addition to its key and value, as in etcd's quota.
	writeOverhead = 256
	// reserve limits writes that replace a value: they may exceed the quota by a fraction of 1/reserve. The deletion of
	// an object that waits for its dependents begins with such a write. The replaced values are history, which
	// compaction removes.
	reserve = 16
	// reclaimPause is the time between two attempts to free space.
	reclaimPause = 2 * time.Second
)

// space keeps the embedded database within its quota. etcd's own quota counts the file, which doesn't shrink, so space
// counts the bytes in use. etcd reports these as of its last write to the file; space adds the commits that it has
// admitted since.
type space struct {
	server *etcdserver.EtcdServer
	log    *slog.Logger
	quota  int64
	// admitted is the size of the commits since the last measurement, and need that of the last commit that requested
	// space.
	admitted, need atomic.Int64
	// wanted holds a token when run should free space.
	wanted chan struct{}
	// compacted is the revision of run's last compaction.
	compacted int64
}

// admit returns ErrNoSpace if there is no space for a put, and requests that run frees space.
func (s *space) admit(bytes int, replaces bool) error {
	need, limit := int64(bytes+writeOverhead), s.quota
	if replaces {
		limit += s.quota / reserve
	}
	used := s.server.Backend().SizeInUse()
	if used+s.admitted.Add(need) > limit {
		used = s.measure()
		s.admitted.Add(need)
	}
	if used+need > s.quota || s.bloated() {
		s.need.Store(need)
		select {
		case s.wanted <- struct{}{}:
		default:
		}
	}
	if used+need > limit {
		return fmt.Errorf("%w: %d of %d bytes are in use", ErrNoSpace, used, s.quota)
	}
	return nil
}

// measure makes etcd write its pending transaction, and returns the number of bytes in use afterwards.
func (s *space) measure() int64 {
	s.admitted.Store(0)
	s.server.Backend().ForceCommit()
	return s.server.Backend().SizeInUse()
}

// bloated reports whether the file is more than twice as large as the quota, and as its content. This happens because a
// large value needs many adjacent pages.
func (s *space) bloated() bool {
	file := s.server.Backend()
	return file.Size() > 2*s.quota && file.Size() > 2*file.SizeInUse()
}

// run frees space on request, until there is enough; removals by clients count, too. It returns when ctx is done.
func (s *space) run(ctx context.Context) {
	for {
		select {
		case <-s.wanted:
		case <-ctx.Done():
			return
		}
		for s.measure()+s.need.Load() > s.quota || s.bloated() {
			if err := s.reclaim(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("failed to free space in etcd", "err", err)
			}
			select {
			case <-time.After(reclaimPause):
			case <-ctx.Done():
				return
			}
		}
	}
}

// reclaim compacts all history, and defragments the file if it is bloated. A follower that is behind then reads the
// whole state again.
func (s *space) reclaim(ctx context.Context) error {
	if rev := s.server.KV().Rev(); rev > s.compacted {
		s.log.Info("etcd's quota is reached; compacting all history", "quota", s.quota, "revision", rev)
		_, err := s.server.Compact(ctx, &pb.CompactionRequest{Revision: rev, Physical: true})
		if err != nil && !errors.Is(err, mvcc.ErrCompacted) {
			return fmt.Errorf("compacting to revision %d: %w", rev, unavailable(ctx, err))
		}
		s.compacted = rev
	}
	for range 2 { // write twice: pages that a transaction frees count as free from the second transaction after it
		if _, err := s.server.LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: 1}); err != nil {
			return fmt.Errorf("writing to etcd: %w", unavailable(ctx, err))
		}
		s.measure()
	}
	if !s.bloated() {
		return nil
	}
	s.log.Warn("defragmenting etcd's file; requests wait in the meantime", "bytes", s.server.Backend().Size())
	return s.server.Backend().Defrag()
}
