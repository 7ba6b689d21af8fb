package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	// memberName names the only member.
	memberName = "kubecascade"
	// maxRequestBytes is etcd's own default. Larger objects must fail here as they do there.
	maxRequestBytes = 1536 << 10
	// tickMs and electionMs are how long a start waits for the election: a single member skips all
	// but one to five ticks of it, five being the fewest that etcd takes. No other member can be
	// late, so the only price is that the process wakes up so often.
	tickMs, electionMs = 10, 50
	// snapshotWrites is a quarter of etcd's default; fewer would cost throughput, as each snapshot waits
	// for the disk several times.
	snapshotWrites = 2500
	// etcd keeps that many of the writes that it has applied in memory, whole, for followers that lag
	// behind, of which there are none. But when raft campaigns it looks for all that it doesn't know to be
	// applied, and panics if one isn't there. It campaigns only at the start: where nothing is to be applied
	// then, keptFirst is plenty; elsewhere it may be little more than snapshotWrites. etcd can't bound them
	// by bytes: keptAgain are 10 MB of objects of 2 kB, but gigabytes if all were of the largest objects.
	// Whatever is to be kept, etcd forgets its very first entry when it has applied a hundred, and a member without
	// a snapshot begins there: if the election comes between the two, the start fails. So the first write after a
	// start without one makes a snapshot (applying).
	keptFirst, keptAgain = 100, 2 * snapshotWrites
)

// etcd allocates each segment of its log in full, and the next one ahead. Its 64 MB would make
// the smallest store 128 MB large, in memory even where /tmp is there. Any segment size can be read.
func init() { wal.SegmentSizeBytes = 8 << 20 }

// Server is an etcd server in this process. Requests are function calls; it listens nowhere.
type Server struct {
	etcd   *embed.Etcd
	server *etcdserver.EtcdServer
	lock   io.Closer
	// cleared removes the directory of the data at the end, nil if it stays.
	cleared func()
	// quiet keeps warnings back while the server starts and stops; see logCore.
	quiet atomic.Bool
	// applying has etcd make its first snapshot.
	applying onApply
	// broken is told if etcd can't go on.
	broken *breakdown
	// space keeps the database within its quota.
	space *space
}

// Etcd returns the running server, for requests.
func (s *Server) Etcd() *etcdserver.EtcdServer { return s.server }

// Admit returns ErrNoSpace if there is no space for a write of so many bytes of key and value, and makes Reclaim free
// space. Writes that replace a value may use another sixteenth of the quota.
func (s *Server) Admit(bytes int, replaces bool) error { return s.space.admit(bytes, replaces) }

// Reclaim frees space whenever Admit has found too little, until ctx is done. It must have returned before Stop.
func (s *Server) Reclaim(ctx context.Context) { s.space.run(ctx) }

// Start starts etcd and waits until it can be written to.
func Start(ctx context.Context, c Config) (_ *Server, err error) {
	s := &Server{}
	defer func() {
		if err != nil {
			_ = s.Stop() // err says it
		}
	}()
	dir := c.DataDir
	if c.Ephemeral {
		dir, s.cleared, err = Temporary(c.DataDir)
	} else {
		s.lock, err = lockMember(dir)
	}
	if err != nil {
		return nil, err
	}
	first, kept := false, uint64(keptFirst)
	if !c.Ephemeral { // nobody opens such a directory again
		if first, err = beginFirst(dir, c.Logger); err != nil {
			return nil, err
		}
		if made, err := exists(filepath.Join(dir, memberDir)); err != nil || made { // restored, if it is the first
			kept = keptAgain
		}
	}
	if !first && !c.Ephemeral {
		if err := inspect(filepath.Join(dir, memberDir)); err != nil {
			return nil, err
		}
	}
	s.quiet.Store(true)
	s.broken = newBreakdown(dir, c.Fatal)
	if s.etcd, err = startEtcd(s.config(c, dir, kept), s.broken); err != nil {
		return nil, fmt.Errorf("opening data directory %s: %w", dir, named(err))
	}
	s.server = s.etcd.Server
	s.space = newSpace(s.server, c)
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
	if !c.Ephemeral && !restored(filepath.Join(dir, memberDir)) {
		s.applying.do = s.server.ForceSnapshot
		s.applying.armed.Store(true)
	}
	s.quiet.Store(false)
	s.broken.serving.Store(true)
	return s, s.broken.failed()
}

// ready waits until the member leads. It looks for other members all the time: with them it may
// never lead, and what the log tells of them is applied only now.
func (s *Server) ready(ctx context.Context) error {
	again := time.NewTicker(electionMs * time.Millisecond)
	defer again.Stop()
	watching, enough := context.WithCancel(ctx)
	defer enough()
	w := newWatchdog(watching, s.server)
	for {
		if err := errors.Join(alone(s.server), w.check()); err != nil {
			return err
		}
		select {
		case <-s.server.ReadyNotify():
			if ctx.Err() != nil { // whoever waited has given up, however quick it was
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

// alone makes sure that there are no other members, which reads here rely on.
func alone(e *etcdserver.EtcdServer) error {
	if n := len(e.Cluster().Members()); n > 1 {
		return fmt.Errorf("it belongs to a cluster of %d members; restore a snapshot of it instead", n)
	}
	return nil
}

// Stop ends the server, waits for it, and gives the directory free. One that has broken down can't
// be waited for; what is left of it stands still.
func (s *Server) Stop() (err error) {
	s.quiet.Store(true)
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

// startEtcd calls etcd, which panics, or breaks down, where a directory can't be read. Then the
// goroutine that called it stands still.
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
		return e, err
	case <-b.done:
		return nil, b.err
	}
}

// config says how the one member runs, and how many applied writes it keeps in memory. What is not set here
// has etcd's default.
func (s *Server) config(c Config, dir string, kept uint64) *embed.Config {
	// The address identifies the member; nobody connects there.
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
	// After that many writes etcd notes how far its log is applied, which bounds the disk that the
	// log takes and what a restart reads again.
	e.SnapshotCount = snapshotWrites
	e.SnapshotCatchUpEntries = kept
	e.MaxWalFiles = 2
	// Slower writes than this are worth a warning; etcd's 100 ms are common on slow disks.
	e.WarningApplyDuration = time.Second
	e.WarningUnaryRequestDuration = time.Second
	e.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newLog(c.Logger, &s.quiet, &s.applying, s.broken))
	return e
}
