package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
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

// embedded is an etcd server in this process. Requests are function calls; it listens nowhere.
type embedded struct {
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
}

// startEmbedded starts etcd and waits until it can be written to.
func startEmbedded(ctx context.Context, c Config) (_ *embedded, err error) {
	m := &embedded{}
	defer func() {
		if err != nil {
			_ = m.stop() // err says it
		}
	}()
	dir := c.DataDir
	if c.Ephemeral {
		dir, m.cleared, err = Temporary(c.DataDir)
	} else {
		m.lock, err = lockMember(dir)
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
	m.quiet.Store(true)
	m.broken = newBreakdown(dir, c.Fatal)
	if m.etcd, err = startEtcd(m.config(c, dir, kept), m.broken); err != nil {
		return nil, fmt.Errorf("opening data directory %s: %w", dir, named(err))
	}
	m.server = m.etcd.Server
	if err := m.ready(ctx); err != nil {
		return nil, fmt.Errorf("starting etcd in %s: %w", dir, err)
	}
	if first {
		if err := endFirst(dir); err != nil {
			return nil, err
		}
	}
	if err := disarm(ctx, m.server); err != nil {
		return nil, err
	}
	if !c.Ephemeral && !restored(filepath.Join(dir, memberDir)) {
		m.applying.do = m.server.ForceSnapshot
		m.applying.armed.Store(true)
	}
	m.quiet.Store(false)
	m.broken.serving.Store(true)
	return m, m.broken.failed()
}

// ready waits until the member leads. It looks for other members all the time: with them it may
// never lead, and what the log tells of them is applied only now.
func (m *embedded) ready(ctx context.Context) error {
	again := time.NewTicker(electionMs * time.Millisecond)
	defer again.Stop()
	watching, enough := context.WithCancel(ctx)
	defer enough()
	w := newWatchdog(watching, m.server)
	for {
		if err := errors.Join(alone(m.server), w.check()); err != nil {
			return err
		}
		select {
		case <-m.server.ReadyNotify():
			if ctx.Err() != nil { // whoever waited has given up, however quick it was
				return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
			}
			return alone(m.server)
		case <-again.C:
		case <-m.server.StopNotify():
			return fmt.Errorf("%w: etcd stopped", ErrUnavailable)
		case <-m.broken.done:
			return m.broken.err
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
		}
	}
}

// alone makes sure that there are no other members, which reads here rely on.
func alone(s *etcdserver.EtcdServer) error {
	if n := len(s.Cluster().Members()); n > 1 {
		return fmt.Errorf("it belongs to a cluster of %d members; restore a snapshot of it instead", n)
	}
	return nil
}

// stop ends the server, waits for it, and gives the directory free. One that has broken down can't
// be waited for; what is left of it stands still.
func (m *embedded) stop() (err error) {
	m.quiet.Store(true)
	if m.etcd != nil {
		m.broken.serving.Store(false)
		closed := make(chan struct{})
		go func() {
			m.etcd.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-m.broken.done:
		}
		err = m.broken.failed()
	}
	if m.lock != nil {
		m.lock.Close()
	}
	if m.cleared != nil {
		m.cleared()
	}
	return err
}

// LockDir makes dir and takes it for this process, until the lock is closed or the process ends. The
// error is ErrInUse if another has it. Open locks the directory of an embedded etcd by itself.
func LockDir(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating data directory: %w", err)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, memberName+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, lockError(dir, err)
	}
	if err := adopt(dir); err != nil {
		lock.Close()
		return nil, lockError(dir, err)
	}
	return lock, nil
}

// lockMember is LockDir for a directory of etcd's. The lock is our own because etcd waits for
// bbolt's without end; that of its log tells whether another etcd program is at work.
func lockMember(dir string) (io.Closer, error) {
	lock, err := LockDir(dir)
	if err != nil {
		return nil, err
	}
	segments, err := fs.Glob(os.DirFS(dir), memberDir+"/wal/*.wal")
	if err == nil && len(segments) > 0 {
		var probe *fileutil.LockedFile
		if probe, err = fileutil.TryLockFile(filepath.Join(dir, segments[len(segments)-1]), os.O_RDWR, 0o600); err == nil {
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
	var cause *fs.PathError // without the name of the function that etcd puts before it
	if errors.As(err, &cause) {
		err = cause
	}
	return fmt.Errorf("locking data directory: %w", err)
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
func (m *embedded) config(c Config, dir string, kept uint64) *embed.Config {
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
	e.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newLog(c.Logger, &m.quiet, &m.applying, m.broken))
	return e
}
