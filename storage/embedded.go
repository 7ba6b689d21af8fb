package storage

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/features"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

const (
	// memberName names the only member.
	memberName = "kubecascade"
	// maxRequestBytes is etcd's own default. Larger objects must fail here as they do there.
	maxRequestBytes = 1536 << 10
	// tickMs and electionTicks are etcd's own. A faster clock would only cost idle wake-ups, as
	// elect doesn't wait for it.
	tickMs, electionTicks = 100, 10
	// snapshotWrites is a quarter of etcd's default. The writes kept in memory are twice as many, some
	// megabytes; fewer would cost throughput, as each snapshot waits for the disk several times.
	snapshotWrites = 2500
)

// etcd allocates each segment of its log in full, and the next one ahead. Its 64 MB would make
// the smallest store 128 MB large, in memory even where /tmp is there. Any segment size can be read.
func init() { wal.SegmentSizeBytes = 8 << 20 }

// embedded is an etcd server in this process. It listens nowhere: requests are function calls, and
// a single member has no peers.
type embedded struct {
	server *etcdserver.EtcdServer
	lock   *fileutil.LockedFile
	// temporary is the directory to remove at the end, if any.
	temporary string
	// quiet keeps warnings back while the server starts and stops; see logCore.
	quiet atomic.Bool
}

// startEmbedded starts etcd and waits until it can be written to.
func startEmbedded(ctx context.Context, c Config) (_ *embedded, err error) {
	m := &embedded{}
	defer func() {
		if err != nil {
			m.stop()
		}
	}()
	dir := c.DataDir
	if c.Ephemeral {
		if dir, err = os.MkdirTemp(c.DataDir, memberName+"-"); err != nil {
			return nil, fmt.Errorf("making a temporary directory: %w", err)
		}
		m.temporary = dir
	}
	if m.lock, err = lockDir(dir); err != nil {
		return nil, err
	}
	starting.Lock()
	defer starting.Unlock()
	m.quiet.Store(true)
	server, err := newServer(serverConfig(c, dir, &m.quiet))
	if err != nil {
		return nil, fmt.Errorf("opening data directory %s: %w", dir, err)
	}
	if err := alone(server); err != nil {
		server.Cleanup()
		return nil, fmt.Errorf("opening data directory %s: %w", dir, err)
	}
	server.Start()
	m.server = server
	if err := elect(ctx, server); err != nil {
		return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
	}
	if err := alone(server); err != nil {
		return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
	}
	m.quiet.Store(false)
	return m, nil
}

// alone makes sure that there are no other members, which reads here rely on. Before the log is
// applied there may be none yet.
func alone(s *etcdserver.EtcdServer) error {
	if n := len(s.Cluster().Members()); n > 1 {
		return fmt.Errorf("it belongs to a cluster of %d members; restore a snapshot of it instead", n)
	}
	return nil
}

// stop ends the server, waits for it, and gives the directory free.
func (m *embedded) stop() {
	m.quiet.Store(true)
	if m.server != nil {
		m.server.Stop()
	}
	if m.lock != nil {
		m.lock.Close()
	}
	if m.temporary != "" {
		os.RemoveAll(m.temporary)
	}
}

// lockDir makes dir and takes it for this process. The lock is our own because etcd waits for
// bbolt's without end; that of its log tells whether another etcd program is at work.
func lockDir(dir string) (*fileutil.LockedFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making data directory: %w", err)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, memberName+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, lockError(dir, err)
	}
	segments, err := filepath.Glob(filepath.Join(dir, "member", "wal", "*.wal"))
	if err == nil && len(segments) > 0 {
		var probe *fileutil.LockedFile
		if probe, err = fileutil.TryLockFile(segments[len(segments)-1], os.O_RDWR, 0o600); err == nil {
			probe.Close()
		}
	}
	if err != nil {
		lock.Close()
		return nil, lockError(dir, err)
	}
	return lock, nil
}

func lockError(dir string, err error) error {
	if errors.Is(err, fileutil.ErrLocked) {
		return fmt.Errorf("%w: %s", ErrInUse, dir)
	}
	return fmt.Errorf("locking data directory: %w", err)
}

// newServer calls etcd, which panics where a directory can't be read.
func newServer(c config.ServerConfig) (s *etcdserver.EtcdServer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("etcd: %v", r)
		}
	}()
	return etcdserver.NewServer(c)
}

// serverConfig says how the one member runs. What is not set here has etcd's default, or
// concerns peers and listeners.
func serverConfig(c Config, dir string, quiet *atomic.Bool) config.ServerConfig {
	lg := newLog(c.Logger, quiet)
	// The address identifies the member; nothing listens there.
	urls := types.URLs{url.URL{Scheme: "unix", Host: memberName}}
	return config.ServerConfig{
		Name:                memberName,
		DataDir:             dir,
		PeerURLs:            urls,
		InitialPeerURLsMap:  types.URLsMap{memberName: urls},
		InitialClusterToken: memberName,
		NewCluster:          true,
		TickMs:              tickMs,
		ElectionTicks:       electionTicks,
		MaxRequestBytes:     maxRequestBytes,
		MaxTxnOps:           128,
		QuotaBackendBytes:   c.QuotaBytes,
		UnsafeNoFsync:       c.Ephemeral,
		// After that many writes etcd notes how far its log is applied, which bounds the disk that
		// the log takes and what a restart reads again.
		SnapshotCount: snapshotWrites,
		// Applied writes are kept in memory for followers that lag behind, of which there are none,
		// but also for an election by the timer; see elect. A restart applies little more than
		// SnapshotCount.
		SnapshotCatchUpEntries: 2 * snapshotWrites,
		MaxWALFiles:            2,
		MaxSnapFiles:           2,
		// Maps allocate a page in constant time however fragmented the database is.
		BackendFreelistType: bbolt.FreelistMapType,
		// Slower writes than this are worth a warning; etcd's 100 ms are common on slow disks.
		WarningApplyDuration:        time.Second,
		WarningUnaryRequestDuration: time.Second,
		CompactHashCheckTime:        time.Minute,
		DowngradeCheckTime:          time.Minute,
		AuthToken:                   "simple",
		TokenTTL:                    300,
		MaxLearners:                 1,
		Logger:                      lg,
		ServerFeatureGate:           features.NewDefaultServerFeatureGate(memberName, lg),
	}
}

// starting is held while a server starts, so that appliedAll speaks of that one.
var starting sync.Mutex

// appliedAll reports whether raft has noted that all committed writes of its log are applied. Only
// expvar tells, for the server that was made last.
func appliedAll(s *etcdserver.EtcdServer) bool {
	f, ok := expvar.Get("raft.status").(expvar.Func)
	if !ok {
		return false
	}
	st, ok := f.Value().(raft.Status)
	return ok && st.ID == uint64(s.MemberID()) && st.Applied > 0 && st.Applied == st.GetCommit()
}

// elect makes the member leader and waits until all that its log holds is applied. It tells the
// member to campaign, with the message that raft hands leadership over with, because waiting for
// the election timer takes half a second. Not before all is applied, though: raft panics if it
// campaigns while etcd has dropped writes from memory that raft doesn't know to be applied.
func elect(ctx context.Context, s *etcdserver.EtcdServer) error {
	id := uint64(s.MemberID())
	campaign := &raftpb.Message{Type: raftpb.MsgTimeoutNow.Enum(), To: &id, From: &id}
	again := time.NewTicker(500 * time.Microsecond)
	defer again.Stop()
	for {
		if s.Leader() == 0 && appliedAll(s) {
			if err := s.Process(ctx, campaign); err != nil {
				return fmt.Errorf("campaigning: %w", err)
			}
		}
		select {
		case <-s.ReadyNotify():
			return nil
		case <-again.C:
		case <-s.StopNotify():
			return fmt.Errorf("%w: etcd stopped", ErrUnavailable)
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
		}
	}
}
