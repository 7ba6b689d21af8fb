package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// Snapshot is a file of etcd that a server begins with.
type Snapshot struct {
	// File is a snapshot, a database, or a data directory; empty for none.
	File string
	// Writable allows writes to the copy that is served.
	Writable bool
	// Prefix is that of the cluster's keys; empty finds it.
	Prefix string
}

// readOnly reports whether writes are rejected.
func (c *Config) readOnly() bool { return c.Snapshot.File != "" && !c.Snapshot.Writable }

// errNoWebhooks is the error of calls: the configurations in a backup name webhooks of the cluster that it is of, which
// may still run.
var errNoWebhooks = errors.New("webhooks are not called by a server that serves a snapshot")

// webhookPlugins are the admission plugins that call webhooks.
var webhookPlugins = []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"}

// checkSnapshot rejects settings that exclude each other.
func (c *Config) checkSnapshot() error {
	if c.Snapshot.File == "" {
		if c.Snapshot.Writable {
			return errors.New("--writable requires --from-snapshot")
		}
		return nil
	}
	on, _, err := controllers.Select(c.Controllers)
	switch {
	case err != nil:
		return nil // it is reported by the caller
	case c.external():
		return errors.New("--from-snapshot and --etcd-servers are mutually exclusive")
	case c.Snapshot.Writable:
		return nil
	case c.Dir != "":
		return errors.New("--from-snapshot with --data-dir requires --writable: " +
			"a copy that is only read is in a temporary directory")
	case slices.Contains(slices.Collect(maps.Values(on)), true):
		return errors.New("--controllers with --from-snapshot requires --writable: controllers write")
	case c.Simulate:
		return errors.New("--simulate-pods with --from-snapshot requires --writable: what is simulated is written")
	}
	return nil
}

// openSnapshot opens the file, before anything is created, and lets the storage begin with it.
func (s *Server) openSnapshot() error {
	c := s.config
	if c.Snapshot.File == "" {
		return nil
	}
	f, err := snapshot.Open(c.Snapshot.File)
	if err != nil {
		return fmt.Errorf("--from-snapshot: %w", err)
	}
	s.then(f.Close)
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
	c.Storage.Restore = func(member string) error {
		return f.Restore(member, snapshot.RestoreOptions{KeepLeases: c.readOnly(), Temporary: c.Dir == ""})
	}
	return nil
}

// reports reads what the snapshot contains, once, when that is first asked for or the server has started.
type reports struct {
	path    string
	options backup.Options
	// life is done when the server begins to end.
	life   context.Context
	once   sync.Once
	report *backup.Report
	err    error
}

func (r *reports) get() (*backup.Report, error) {
	r.once.Do(func() { r.report, r.err = backup.Inspect(r.life, r.path, r.options) })
	return r.report, r.err
}

// warn logs what can't be served.
func (r *reports) warn(log *slog.Logger) {
	report, err := r.get()
	switch {
	case r.life.Err() != nil:
	case err != nil:
		log.Warn("failed to read what the snapshot contains", "err", err)
	case len(report.Missing()) > 0:
		log.Warn("some objects of the snapshot are not served; /kubecascade/v1/snapshot has the reasons",
			"unreadable", report.UnreadableObjects, "not served", report.Missing())
	}
}

// route is "snapshot": what the snapshot contains. It is for users who may get the path, as other paths of the server:
// names of objects are in it.
func (r *reports) route(log *slog.Logger) render.Route {
	return render.Route{Path: "snapshot", Serve: func(w http.ResponseWriter, req *http.Request) {
		report, err := r.get()
		var data []byte
		if err == nil {
			data, err = json.Marshal(report)
		}
		render.JSON(log, w, req, data, err)
	}}
}
