package storage

import (
	"cmp"
	"errors"
	"log/slog"
	"strings"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

// DefaultRoot is the default of Config.Root, and of kube-apiserver.
const DefaultRoot = "/registry"

// DefaultQuota is the largest quota in bytes that etcd recommends.
const DefaultQuota = 8 << 30

// MinQuota is the smallest quota in bytes that the settings of a server may have.
const MinQuota = 1 << 20

// Config chooses where the data is stored. Without Endpoints, etcd runs in this process and stores its data in DataDir
// or, if Ephemeral, in a temporary directory.
type Config struct {
	// DataDir is etcd's data directory; Open creates it if it doesn't exist. With Ephemeral it is the parent of the
	// temporary directory (default: the system's).
	DataDir string
	// Ephemeral stores the data in a temporary directory, without fsync. Close removes the directory; a crash loses all
	// data.
	Ephemeral bool
	// Endpoints are the client URLs of an external etcd cluster (http, https or unix).
	Endpoints []string
	// CAFile, CertFile and KeyFile are PEM files for the connection to Endpoints.
	CAFile, CertFile, KeyFile string
	// Restore makes the database of a new data directory, in etcd's directory member (package snapshot); nil for an empty
	// one. With data in DataDir Open fails with ErrNotEmpty.
	Restore func(member string) error
	// ReadOnly, if it is not empty, makes commits and compactions fail with ErrReadOnly and this reason.
	ReadOnly string
	// QuotaBytes limits how many bytes of the embedded database are in use (default DefaultQuota). Beyond it, commits
	// that create keys fail with ErrNoSpace; those that replace values may use another sixteenth. etcd's history is
	// then compacted; further space is freed by deletions. The file also has free pages, usually at most as many as
	// used pages.
	QuotaBytes int64
	// Fatal is called when an embedded etcd can't continue, such as on a full disk (the error then matches ErrNoSpace).
	// It is called from any goroutine, maybe several times. It should end the process, which loses no acknowledged
	// write: active requests never return, and neither does Close. Open and Close return such an error themselves. For
	// an external cluster Fatal is called once, when the cluster's history is not the one that was read before
	// (ErrSetBack); all requests fail from then on. The default panics.
	Fatal func(error)
	// Root is the prefix of all keys, without a slash at the end (default "/registry").
	Root string
	// Logger receives etcd's warnings and errors (default slog.Default()).
	Logger *slog.Logger
}

// withDefaults sets the defaults and rejects contradictory fields.
func (c Config) withDefaults() (Config, error) {
	external := len(c.Endpoints) > 0
	switch {
	case external && (c.DataDir != "" || c.Ephemeral):
		return c, errors.New("storage: endpoints exclude a data directory")
	case !external && c.DataDir == "" && !c.Ephemeral:
		return c, errors.New("storage: no data directory, endpoints or ephemeral store given")
	case external && c.Restore != nil:
		return c, errors.New("storage: endpoints exclude a restored database")
	case (c.CertFile == "") != (c.KeyFile == ""):
		return c, errors.New("storage: certificate and key file are only used together")
	}
	c.Root = "/" + strings.Trim(cmp.Or(c.Root, DefaultRoot), "/")
	c.QuotaBytes = cmp.Or(max(c.QuotaBytes, 0), DefaultQuota)
	if c.Fatal == nil {
		c.Fatal = func(err error) { go panic(err) } // etcd recovers panics of its own goroutines
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c, nil
}

func (c Config) embedded() embedded.Config {
	return embedded.Config{
		DataDir: c.DataDir, Ephemeral: c.Ephemeral, Restore: c.Restore, QuotaBytes: c.QuotaBytes,
		Fatal: c.Fatal, Logger: c.Logger,
	}
}
