package storage

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

// DefaultRoot is the prefix of all keys unless Config.Root says otherwise; it is kube-apiserver's own.
const DefaultRoot = "/registry"

// DefaultQuota is the size in bytes that etcd recommends as the largest.
const DefaultQuota = 8 << 30

// Config says where the data is. Without Endpoints etcd runs in this process, in DataDir or, if
// Ephemeral, in a temporary directory.
type Config struct {
	// DataDir is etcd's data directory; it is made if it doesn't exist. With Ephemeral it is where
	// the temporary directory is made (default: the system's).
	DataDir string
	// Ephemeral stores in a directory of Temporary's that is removed by Close, and never waits for the
	// disk: a crash loses everything.
	Ephemeral bool
	// Endpoints are the client URLs of an external etcd cluster (http, https or unix).
	Endpoints []string
	// CAFile, CertFile and KeyFile are PEM files for the connection to Endpoints.
	CAFile, CertFile, KeyFile string
	// QuotaBytes bounds what is in use of the embedded database (default DefaultQuota); beyond it
	// commits that put something new fail with ErrNoSpace, and those that replace something go on for
	// another sixteenth. Room is then made by forgetting all history; the rest is up to deletes. The
	// file has free pages besides, at most as many again as a rule.
	QuotaBytes int64
	// Fatal is called when an embedded etcd can't go on any more, such as when the disk is full (the
	// error then matches ErrNoSpace). It is called from any goroutine, may be called several times,
	// and should end the process, which loses nothing that was acknowledged: requests under way never
	// return, so neither does Close. Before Open returns, and while Close stops etcd, they return such
	// an error instead. Of an external cluster it is called once, when its history is not the one that was read
	// before (ErrSetBack); all requests fail from then on. The default panics.
	Fatal func(error)
	// Root is the prefix of all keys, without a slash at the end (default "/registry").
	Root string
	// Logger is told etcd's warnings and errors (default slog.Default()).
	Logger *slog.Logger
}

// withDefaults fills in what is zero and refuses what can't be meant.
func (c Config) withDefaults() (Config, error) {
	external := len(c.Endpoints) > 0
	switch {
	case external && (c.DataDir != "" || c.Ephemeral):
		return c, errors.New("storage: endpoints exclude a data directory")
	case !external && c.DataDir == "" && !c.Ephemeral:
		return c, errors.New("storage: no data directory, endpoints or ephemeral store given")
	case (c.CertFile == "") != (c.KeyFile == ""):
		return c, errors.New("storage: certificate and key file are only used together")
	}
	if c.Root == "" {
		c.Root = DefaultRoot
	}
	c.Root = "/" + strings.Trim(c.Root, "/")
	if c.QuotaBytes <= 0 {
		c.QuotaBytes = DefaultQuota
	}
	if c.Fatal == nil {
		c.Fatal = func(err error) { go panic(err) } // etcd would recover it in its own goroutine
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, nil
}

// embedded is the part of the configuration for an embedded etcd.
func (c Config) embedded() embedded.Config {
	return embedded.Config{
		DataDir: c.DataDir, Ephemeral: c.Ephemeral, QuotaBytes: c.QuotaBytes, Fatal: c.Fatal, Logger: c.Logger,
	}
}
