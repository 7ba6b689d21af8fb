package embedded

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	memberName = "kubecascade"
	// maxRequestBytes is etcd's own default. Larger objects must fail here as in a cluster.
	maxRequestBytes = 1536 << 10
	// tickMs and electionMs determine how long a start waits for the election. etcd's election timeout is five to nine
	// ticks, at random. A single member skips the first four. Shorter ticks would wake an idle process more often.
	tickMs, electionMs = 25, 125
	// snapshotWrites is a quarter of etcd's default. Fewer would cost throughput, as each snapshot waits for the disk
	// several times.
	snapshotWrites = 2500
	// kept is the number of applied log entries that etcd keeps in memory for slow followers, in a new directory. There
	// are no followers here. A start with an existing log may need more entries for the election, so it keeps etcd's
	// default.
	kept = 100
	// segmentBytes is the size of a segment of etcd's log. etcd allocates each segment in full, and the next one in
	// advance. With etcd's default of 64 MB the smallest store would take 128 MB, in memory if /tmp is in memory. etcd
	// reads segments of any size.
	segmentBytes = 8 << 20
)

// setSegments sets the size of segments, a variable of etcd for all servers in a process.
var setSegments = sync.OnceFunc(func() { wal.SegmentSizeBytes = segmentBytes })

// Server is an etcd server in this process. Requests are function calls; it listens on no socket.
type Server struct {
	etcd   *embed.Etcd
	server *etcdserver.EtcdServer
	lock   io.Closer
	// cleared removes the temporary directory; nil if the directory stays.
	cleared func()
	// broken receives the error that stops etcd.
	broken *breakdown
	space  *space
}

// Etcd returns the running server, for requests.
func (s *Server) Etcd() *etcdserver.EtcdServer { return s.server }

// Admit returns ErrNoSpace if there is no space for a write of a key and a value of that size, and makes Reclaim free
// space. Writes that replace a value may use another sixteenth of the quota.
func (s *Server) Admit(bytes int, replaces bool) error { return s.space.admit(bytes, replaces) }

// Reclaim frees space whenever Admit has found too little, until ctx is done. It must have returned before Stop.
func (s *Server) Reclaim(ctx context.Context) { s.space.run(ctx) }

// Start starts etcd and waits until it accepts writes.
func Start(ctx context.Context, c Config) (_ *Server, err error) {
	setSegments()
	s := &Server{}
	defer func() {
		if err != nil {
			_ = s.Stop() // err is returned
		}
	}()
	dir, err := s.lockData(c)
	if err != nil {
		return nil, err
	}
	first := false
	if !c.Ephemeral { // such a directory is never opened again
		if first, err = beginFirst(dir, c.Logger); err != nil {
			return nil, err
		}
	}
	if c.Restore != nil {
		if err := restore(c, dir, first); err != nil {
			return nil, err
		}
	}
	if !first && !c.Ephemeral {
		if err := inspect(filepath.Join(dir, memberDir)); err != nil {
			return nil, err
		}
	}
	s.broken = newBreakdown(dir, c.Fatal)
	if s.etcd, err = startEtcd(s.config(c, dir, first), s.broken); err != nil {
		return nil, fmt.Errorf("opening data directory %s: %w", dir, named(err))
	}
	s.server = s.etcd.Server
	s.space = &space{server: s.server, log: c.Logger, quota: c.QuotaBytes, wanted: make(chan struct{}, 1)}
	if err := s.ready(ctx); err != nil {
		return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
	}
	if first {
		if err := endFirst(dir); err != nil {
			return nil, err
		}
	}
	if err := disarm(ctx, s.server); err != nil {
		return nil, err
	}
	s.broken.serving.Store(true)
	return s, s.broken.failed()
}

// lockData locks the data directory for this process, and returns its path.
func (s *Server) lockData(c Config) (dir string, err error) {
	if c.Ephemeral {
		dir, s.cleared, err = Temporary(c.DataDir)
		return dir, err
	}
	s.lock, err = lockMember(c.DataDir)
	return c.DataDir, err
}

// restore calls Config.Restore. beginFirst has removed what an interrupted start restored.
func restore(c Config, dir string, first bool) error {
	member := filepath.Join(dir, memberDir)
	there, err := exists(member)
	switch {
	case err != nil:
		return fmt.Errorf("looking for data of etcd: %w", err)
	case there || !first && !c.Ephemeral:
		return fmt.Errorf("%w: %s", ErrNotEmpty, dir)
	}
	return c.Restore(member)
}

// ready waits until the member is the leader. In the meantime it checks for other members: with them this member may
// never become the leader. It can't check earlier, because etcd reads the members from its log only now.
func (s *Server) ready(ctx context.Context) error {
	again := time.NewTicker(electionMs * time.Millisecond)
	defer again.Stop()
	began := time.Now()
	for {
		if err := alone(s.server); err != nil {
			return err
		}
		if time.Since(began) > patience {
			if err := stuck(s.server); err != nil {
				return err
			}
		}
		select {
		case <-s.server.ReadyNotify():
			if ctx.Err() != nil { // the caller no longer waits
				return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
			}
			return alone(s.server)
		case <-again.C:
		case <-s.server.StopNotify():
			return fmt.Errorf("%w: etcd stopped", ErrUnavailable)
		case <-s.broken.done:
			return s.broken.err
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
		}
	}
}

// disarm disarms an alarm that another program has left in the data directory.
func disarm(ctx context.Context, s *etcdserver.EtcdServer) error {
	for _, a := range s.Alarms() {
		if a.Alarm != pb.AlarmType_NOSPACE {
			continue
		}
		q := &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, MemberID: a.MemberID, Alarm: a.Alarm}
		if _, err := s.Alarm(ctx, q); err != nil {
			return fmt.Errorf("disarming etcd's alarm: %w", unavailable(ctx, err))
		}
	}
	return nil
}

// alone returns an error if there are other members. Reads from memory are linearizable only without them.
func alone(e *etcdserver.EtcdServer) error {
	if n := len(e.Cluster().Members()); n > 1 {
		return fmt.Errorf("it belongs to a cluster of %d members; restore a snapshot of it instead", n)
	}
	return nil
}

// Stop stops the server, waits for it, and releases the directory. It does not wait for a server that has broken down:
// some of its goroutines may wait for one that has ended.
func (s *Server) Stop() (err error) {
	if s.etcd != nil {
		s.broken.serving.Store(false)
		closed := make(chan struct{})
		go func() {
			s.etcd.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-s.broken.done:
		}
		err = s.broken.failed()
	}
	if s.lock != nil {
		s.lock.Close()
	}
	if s.cleared != nil {
		s.cleared()
	}
	return err
}

// startEtcd starts etcd. It returns an error if etcd panics or breaks down, as etcd does if it can't read a directory.
func startEtcd(c *embed.Config, b *breakdown) (*embed.Etcd, error) {
	var e *embed.Etcd
	var err error
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		defer func() {
			if r := recover(); r != nil {
				e, err = nil, fmt.Errorf("%w: %v", errPanicked, r)
			}
		}()
		e, err = embed.StartEtcd(c)
	}()
	select {
	case <-returned:
	case <-b.done:
	}
	if failed := b.failed(); failed != nil {
		return nil, failed
	}
	return e, err
}

// config returns the configuration of the member. All other settings have etcd's defaults.
func (s *Server) config(c Config, dir string, first bool) *embed.Config {
	// The address only identifies the member; no one connects to it.
	address := url.URL{Scheme: "unix", Host: memberName}
	e := embed.NewConfig()
	e.Name = memberName
	e.Dir = dir
	e.ListenClientUrls, e.ListenPeerUrls = nil, nil
	e.AdvertiseClientUrls = []url.URL{address}
	e.AdvertisePeerUrls = []url.URL{address}
	e.InitialCluster = e.InitialClusterFromName(memberName)
	e.InitialClusterToken = memberName
	e.TickMs, e.ElectionMs = tickMs, electionMs
	e.MaxRequestBytes = maxRequestBytes
	e.QuotaBackendBytes = -1 // none: see space
	e.UnsafeNoFsync = c.Ephemeral
	// After this many writes etcd takes a snapshot, which limits the size of the log, and the part of it that a restart
	// reads again.
	e.SnapshotCount = snapshotWrites
	if (first || c.Ephemeral) && c.Restore == nil {
		e.SnapshotCatchUpEntries = kept
	}
	e.MaxWalFiles = 2
	// Slower writes are worth a warning; etcd's threshold of 100 ms is common on slow disks.
	e.WarningApplyDuration = time.Second
	e.WarningUnaryRequestDuration = time.Second
	e.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newLog(c.Logger, s.broken))
	return e
}
