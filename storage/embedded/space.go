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
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

const (
	// writeOverhead is how many bytes a write takes besides its key and value; etcd's quota counts the same.
	writeOverhead = 256
	// reserve is the part of the quota, on top of it, for writes that replace a value. An object that waits for its
	// dependents is deleted by such writes, and what they replace is history, which compaction removes.
	reserve = 1.0 / 16
	// reclaimPause is the minimum time between two attempts to free space, and after the last.
	reclaimPause = 2 * time.Second
	// compactionPoll is how often reclaim checks whether etcd has finished a compaction.
	compactionPoll = 20 * time.Millisecond
	// largestFile is how large the file may get, in quotas, before it is defragmented. Free pages are used again, but a
	// large value needs many adjacent ones, so the file can outgrow its content. rewritePause is the minimum time
	// between two attempts, as all reads and writes wait meanwhile.
	largestFile, rewritePause = 2, 10 * time.Minute
)

// space keeps the embedded database within its quota. etcd's own quota counts the file, which doesn't shrink, and once
// it is exceeded etcd rejects all puts until an operator has compacted, defragmented and disarmed. No operator can
// reach this etcd. So space counts the bytes in use, and when they exceed the quota it compacts all history until there
// is space again. The bytes in use are known as of etcd's last write to the file; what was admitted since is added
// before a commit is rejected.
type space struct {
	server *etcdserver.EtcdServer
	log    *slog.Logger
	quota  int64
	// admitted is the size of the commits that were admitted since the last measurement.
	admitted atomic.Int64
	// need is the size of the largest commit that was rejected since there was space.
	need atomic.Int64
	// wanted holds a token when run should free space.
	wanted chan struct{}
	// compacted and rewritten belong to run: the revision of the last compaction, and the time of the last
	// defragmentation.
	compacted int64
	rewritten time.Time
}

func newSpace(s *etcdserver.EtcdServer, c Config) *space {
	return &space{server: s, log: c.Logger, quota: c.QuotaBytes, wanted: make(chan struct{}, 1)}
}

// disarm disarms an alarm that another program has left in the data directory.
func disarm(ctx context.Context, s *etcdserver.EtcdServer) error {
	for _, a := range s.Alarms() {
		if a.Alarm != pb.AlarmType_NOSPACE {
			continue
		}
		if _, err := s.Alarm(
			ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, MemberID: a.MemberID, Alarm: a.Alarm},
		); err != nil {
			return fmt.Errorf("disarming etcd's alarm: %w", unavailable(ctx, err))
		}
	}
	return nil
}

// admit returns ErrNoSpace if there is no space for a put, and asks run to free space.
func (s *space) admit(bytes int, replaces bool) error {
	need := int64(bytes + writeOverhead)
	limit := s.quota
	if replaces {
		limit += int64(float64(s.quota) * reserve)
	}
	file := s.server.Backend()
	used := file.SizeInUse()
	if used+s.admitted.Add(need) > limit {
		used = s.measure(file)
		s.admitted.Add(need)
	}
	if used+need > s.quota || file.Size() > largestFile*s.quota {
		s.ask(need)
	}
	if used+need > limit {
		return fmt.Errorf("%w: %d of %d bytes are in use", ErrNoSpace, used, s.quota)
	}
	return nil
}

// measure makes etcd write its pending transaction, and returns how many bytes of the file are then in use.
func (s *space) measure(file backend.Backend) int64 {
	s.admitted.Store(0)
	file.ForceCommit()
	return file.SizeInUse()
}

// ask asks run to free so many bytes.
func (s *space) ask(need int64) {
	for old := s.need.Load(); need > old && !s.need.CompareAndSwap(old, need); old = s.need.Load() {
	}
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}

// run frees space when asked, and until there is enough, also by what clients remove meanwhile. It returns when ctx is
// done.
func (s *space) run(ctx context.Context) {
	for {
		select {
		case <-s.wanted:
		case <-ctx.Done():
			return
		}
		for s.short() {
			if err := s.reclaim(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("failed to free space in etcd", "err", err)
			}
			if !pause(ctx, reclaimPause) {
				return
			}
		}
		s.need.Store(0)
	}
}

// short reports whether reclaim has something to do.
func (s *space) short() bool {
	file := s.server.Backend()
	return s.measure(file)+s.need.Load() > s.quota || s.bloated(file)
}

// bloated reports whether the file should be defragmented: it is much larger than its content.
func (s *space) bloated(file backend.Backend) bool {
	size := file.Size()
	return size > largestFile*s.quota && size > largestFile*file.SizeInUse() && time.Since(s.rewritten) > rewritePause
}

// reclaim compacts all history. A follower that is behind reads the whole state again.
func (s *space) reclaim(ctx context.Context) error {
	file := s.server.Backend()
	if rev := s.server.KV().Rev(); rev > s.compacted {
		s.log.Info("etcd's quota is reached; compacting all history",
			"inUse", file.SizeInUse(), "quota", s.quota, "revision", rev)
		_, err := s.server.Compact(ctx, &pb.CompactionRequest{Revision: rev})
		if err != nil && !errors.Is(err, mvcc.ErrCompacted) {
			return fmt.Errorf("compacting to revision %d: %w", rev, unavailable(ctx, err))
		}
		for finished(file) < rev {
			if !pause(ctx, compactionPoll) {
				return ctx.Err()
			}
		}
		if err := s.touch(ctx); err != nil {
			return err
		}
		s.compacted = rev
	}
	if !s.bloated(file) {
		return nil
	}
	s.log.Warn("defragmenting etcd's file; requests wait meanwhile", "bytes", file.Size(), "inUse", file.SizeInUse())
	s.rewritten = time.Now()
	if err := file.Defrag(); err != nil {
		return fmt.Errorf("defragmenting: %w", err)
	}
	return nil
}

// touch commits two transactions without a revision. Pages that a transaction frees can be used again, and count as
// free, only from the next but one.
func (s *space) touch(ctx context.Context) error {
	for range 2 {
		resp, err := s.server.LeaseGrant(ctx, &pb.LeaseGrantRequest{TTL: 1})
		if err == nil {
			_, err = s.server.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: resp.ID})
		}
		if err != nil {
			return fmt.Errorf("writing to etcd: %w", unavailable(ctx, err))
		}
		s.server.Backend().ForceCommit()
	}
	return nil
}

// finished is the revision of the last completed compaction.
func finished(file backend.Backend) int64 {
	tx := file.ReadTx()
	tx.RLock()
	defer tx.RUnlock()
	rev, _ := mvcc.UnsafeReadFinishedCompact(tx) // 0 before the first
	return rev
}

// pause waits for d. It reports whether d has passed before ctx was done.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
