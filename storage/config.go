package storage

import (
	"errors"
	"log/slog"
	"strings"
)

// DefaultRoot is the prefix of all keys unless Config.Root says otherwise; it is kube-apiserver's own.
const DefaultRoot = "/registry"

// defaultQuota is the size etcd recommends as the largest.
const defaultQuota = 8 << 30

// Config says where the data is. Without Endpoints etcd runs in this process, in DataDir or, if
// Ephemeral, in a temporary directory.
type Config struct {
	// DataDir is etcd's data directory; it is made if it doesn't exist. With Ephemeral it is where
	// the temporary directory is made (default: the system's).
	DataDir string
	// Ephemeral stores in a temporary directory that is removed by Close, and never waits for the
	// disk: a crash loses everything.
	Ephemeral bool
	// Endpoints are the client URLs of an external etcd cluster (http, https or unix).
	Endpoints []string
	// CAFile, CertFile and KeyFile are PEM files for the connection to Endpoints.
	CAFile, CertFile, KeyFile string
	// QuotaBytes bounds the embedded database (default 8 GiB); beyond it commits fail with ErrNoSpace.
	QuotaBytes int64
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
		c.QuotaBytes = defaultQuota
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, nil
}
