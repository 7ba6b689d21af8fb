package storage

import (
	"net/url"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/types"
	"go.etcd.io/etcd/server/v3/config"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/features"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// config says how the one member runs. etcd's own package for this, embed, is not used: it sets nothing
// else where nobody listens, and brings gateways, listeners and tracing into the binary. What has no
// comment is its default (embed.NewConfig).
func (m *embedded) config(c Config, dir string) config.ServerConfig {
	// The address identifies the member; nobody connects there.
	address := []url.URL{{Scheme: "unix", Host: memberName}}
	log := newLog(c.Logger, &m.quiet, m.broken)
	e := config.ServerConfig{
		Name: memberName, DataDir: dir, ClientURLs: address, PeerURLs: address,
		InitialClusterToken: memberName, NewCluster: true, StrictReconfigCheck: true, MaxLearners: membership.DefaultMaxLearners,
		TickMs: tickMs, ElectionTicks: electionMs / tickMs, InitialElectionTickAdvance: true, PreVote: true,
		MaxRequestBytes:   maxRequestBytes,
		MaxTxnOps:         128,
		QuotaBackendBytes: -1, // none: see space
		UnsafeNoFsync:     c.Ephemeral,
		// After that many writes etcd notes how far its log is applied, which bounds the disk that the
		// log takes and what a restart reads again.
		SnapshotCount: snapshotWrites,
		// Applied writes are kept in memory for followers that lag behind, of which there are none, but
		// raft panics if it looks for one that it doesn't know to be applied yet. A restart applies
		// little more than SnapshotCount.
		SnapshotCatchUpEntries: 2 * snapshotWrites,
		MaxSnapFiles:           5,
		MaxWALFiles:            2,
		BackendFreelistType:    bolt.FreelistMapType,
		// Slower writes than this are worth a warning; etcd's 100 ms are common on slow disks.
		WarningApplyDuration:        time.Second,
		WarningUnaryRequestDuration: time.Second,
		CompactHashCheckTime:        time.Minute,
		DowngradeCheckTime:          5 * time.Second,
		AutoCompactionMode:          "periodic",
		AuthToken:                   "simple",
		BcryptCost:                  10,
		TokenTTL:                    300,
		Metrics:                     "basic",
		V2Deprecation:               config.V2DeprDefault,
		Logger:                      log,
		ServerFeatureGate:           features.NewDefaultServerFeatureGate(memberName, log),
	}
	if !wal.Exist(filepath.Join(dir, memberDir, "wal")) {
		e.InitialPeerURLsMap = types.URLsMap{memberName: address}
	}
	return e
}
