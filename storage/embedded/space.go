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
	// writeOverhead is what a write takes besides its key and value; etcd's quota reckons with as much.
	writeOverhead = 256
	// reserve is the part of the quota that is kept, on top of it, for writes that replace what is
	// there: an object that waits for its dependents is deleted by such writes, and what they leave
	// behind is history, which goes.
	reserve = 1.0 / 16
	// reclaimPause is the least time between two attempts to make room, and after the last.
	reclaimPause = 2 * time.Second
	// compactionPoll is how often it is looked whether etcd has removed what was compacted.
	compactionPoll = 20 * time.Millisecond
	// largestFile is how large, in quotas, the file may get before it is written anew. Free pages are
	// used again, but a large value needs many side by side, so the file can outgrow what is in it.
	// rewritePause is the least time between two attempts, as nothing can be read or written meanwhile.
	largestFile, rewritePause = 2, 10 * time.Minute
)

// space keeps the embedded database within its quota. etcd's own quota counts the file, which
// doesn't shrink, and once it is met refuses all puts until an operator has compacted, defragmented and
// disarmed; but nobody can reach this etcd. So what is counted here is what is in use, and when that
// is too much all history is forgotten until there is room again. How much is in use is known as of
// etcd's last write to the file; what was admitted since is added before a commit is refused.
type space struct {
	server *etcdserver.EtcdServer
	log    *slog.Logger
	quota  int64
	// admitted is what has been let in since sizes were last brought up to date.
	admitted atomic.Int64
	// need is the largest commit refused since there was room.
	need atomic.Int64
	// wanted holds a token when room is to be made.
	wanted chan struct{}
	// compacted and rewritten are run's: the revision that it compacted last, and when it rewrote
	// the file.
	compacted int64
	rewritten time.Time
}

func newSpace(s *etcdserver.EtcdServer, c Config) *space {
	return &space{server: s, log: c.Logger, quota: c.QuotaBytes, wanted: make(chan struct{}, 1)}
}

// disarm lifts an alarm that another program has left in the data directory.
func disarm(ctx context.Context, s *etcdserver.EtcdServer) error {
	for _, a := range s.Alarms() {
		if a.Alarm != pb.AlarmType_NOSPACE {
			continue
		}
		if _, err := s.Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, MemberID: a.MemberID, Alarm: a.Alarm}); err != nil {
			return fmt.Errorf("disarming etcd's alarm: %w", unavailable(ctx, err))
		}
	}
	return nil
}

// admit refuses a put that there is no room for, with ErrNoSpace, and then sees to it that there will be.
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

// measure makes etcd write what it has, and returns how much of the file is in use then.
func (s *space) measure(file backend.Backend) int64 {
	s.admitted.Store(0)
	file.ForceCommit()
	return file.SizeInUse()
}

// ask makes run look for room.
func (s *space) ask(need int64) {
	for old := s.need.Load(); need > old && !s.need.CompareAndSwap(old, need); old = s.need.Load() {
	}
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}

// run makes room whenever it is asked for and until there is, also by what is removed meanwhile. It
// ends with ctx.
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

// short tells whether there is something to do for reclaim.
func (s *space) short() bool {
	file := s.server.Backend()
	return s.measure(file)+s.need.Load() > s.quota || s.bloated(file)
}

// bloated tells whether the file is to be written anew: it is much larger than what is in it.
func (s *space) bloated(file backend.Backend) bool {
	size := file.Size()
	return size > largestFile*s.quota && size > largestFile*file.SizeInUse() && time.Since(s.rewritten) > rewritePause
}

// reclaim forgets all history. Who follows and is behind reads the whole state again.
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

// touch writes twice, without a revision: pages that a write to the file gives free can be used, and
// are counted as free, only from the next but one.
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

// finished is the revision of the last compaction that has come to its end.
func finished(file backend.Backend) int64 {
	tx := file.ReadTx()
	tx.RLock()
	defer tx.RUnlock()
	rev, _ := mvcc.UnsafeReadFinishedCompact(tx) // 0 before the first
	return rev
}

// pause waits, and reports whether it came to the end before ctx did.
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
