package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// Snapshot names a file of etcd, with the initial content of a server.
type Snapshot struct {
	// File is a snapshot, a database, or a data directory; empty for none.
	File string
	// Writable allows writes to the copy that is served.
	Writable bool
	// Prefix is the prefix of the cluster's keys; if it is empty, the server finds it.
	Prefix string
}

func (c *Config) readOnly() bool { return c.Snapshot.File != "" && !c.Snapshot.Writable }

// errNoWebhooks is the error of calls of webhooks. The configurations in a backup name webhooks of the original
// cluster, which may still run.
var errNoWebhooks = errors.New("webhooks are not called by a server that serves a snapshot")

var webhookPlugins = []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"}

// openSnapshot opens the file, before anything is created, and lets the storage begin with it.
func (s *Server) openSnapshot(context.Context) error {
	c := s.config
	if c.Snapshot.File == "" {
		return nil
	}
	f, err := snapshot.Open(c.Snapshot.File)
	if err != nil {
		return fmt.Errorf("--from-snapshot: %w", err)
	}
	s.addUndo(f.Close)
	keys, err := f.Keys()
	if err == nil {
		c.Storage.Root, _, err = backup.Prefix(keys, c.Snapshot.Prefix)
	}
	if err != nil {
		return fmt.Errorf("--from-snapshot %s: %w", c.Snapshot.File, err)
	}
	c.API.DisableAdmission = append(slices.Clip(c.API.DisableAdmission), webhookPlugins...)
	c.API.EnableAdmission = slices.DeleteFunc(slices.Clone(c.API.EnableAdmission), func(name string) bool {
		return slices.Contains(webhookPlugins, name)
	})
	if c.readOnly() {
		c.Storage.ReadOnly = fmt.Sprintf("it serves the snapshot %s; with --writable it serves a copy that can be changed",
			c.Snapshot.File)
	}
	s.report = sync.OnceValues(func() (*backup.Report, error) {
		return backup.Inspect(s.life, c.Snapshot.File, backup.Options{Prefix: c.Storage.Root, Encryption: c.encryption})
	})
	c.Storage.Restore = func(member string) error {
		return f.Restore(member, snapshot.RestoreOptions{KeepLeases: c.readOnly(), Temporary: c.Dir == ""})
	}
	return nil
}

// warnOfSnapshot logs which objects of the snapshot are not served. It stops when the server ends.
func (s *Server) warnOfSnapshot() {
	report, err := s.report()
	switch {
	case s.life.Err() != nil:
	case err != nil:
		s.log.Warn("failed to read the content of the snapshot", "err", err)
	case len(report.Missing()) > 0:
		s.log.Warn("some objects of the snapshot are not served; /kubecascade/v1/snapshot has the reasons",
			"unreadable", report.UnreadableObjects, "not served", report.Missing())
	}
}
