package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/internal/checkpoint"
	"github.com/kubecascade/kubecascade/internal/encryption"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// data has the storage and the cache.
type data struct {
	store *storage.Etcd
	// plain is store with decrypted values.
	plain   storage.Store
	dir     directory
	cache   *cache.Cache
	decoder *storage.Decoder
	types   *resources.Types
	// clock is the clock of controllers, and of the times in objects.
	clock *reconcile.Clock
	// webhooks call the webhooks of admission and of CustomResourceDefinitions.
	webhooks *webhook.Clients
	// restorer restores checkpoints.
	restorer *checkpoint.Restorer
	done     sync.WaitGroup
}

// storage returns the settings of the store.
func (c *Config) storage(dir directory, log *slog.Logger, fatal func(error)) storage.Config {
	s := c.Storage
	s.Root = "/" + strings.Trim(s.Root, "/") // kube-apiserver accepts it with and without slashes
	s.Fatal, s.Logger = fatal, log
	if !c.external() {
		s.Ephemeral = dir.temporary
		s.DataDir = filepath.Join(dir.path, "etcd")
		if dir.temporary {
			s.DataDir = dir.path
		}
	}
	return s
}

// declareTypes returns the table of types that the settings enable.
func (c *Config) declareTypes(now func() time.Time) (*resources.Types, error) {
	serving, absent, err := resources.ParseServing(c.Serving)
	if err != nil {
		return nil, fmt.Errorf("--runtime-config: %w", err)
	}
	if len(absent) > 0 {
		c.Log.Warn("enabled API versions are not available", "keys", strings.Join(absent, ","))
	}
	gates, err := featuregates.Resolve(c.Gates)
	if err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	entries := resources.Complete(resources.Declared(now, gates), serving)
	if c.Simulate {
		entries = append(entries, resources.Metrics(simulation.Metrics)...)
		resources.WarnOfAnnotations(entries, simulation.Warnings)
	}
	return resources.NewTable(entries...), nil
}

// openData opens the store in the data directory and waits until the cache has its state. The data stays open after ctx
// is done, until it is closed, so that requests in flight can finish.
func (s *Server) openData(ctx context.Context) (err error) {
	dir, err := s.config.openDirectory()
	if err != nil {
		return err
	}
	s.addUndo(func() error { dir.release(); return nil })
	d := &data{dir: dir, clock: &reconcile.Clock{}}
	if d.types, err = s.config.declareTypes(d.clock.Now); err != nil {
		return err
	}
	c := s.config.storage(dir, s.log, s.fatal)
	if d.store, err = storage.Open(ctx, c); err != nil {
		return s.config.explain(dir.path, err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.addUndo(func() error {
		stop()
		if s.abandons() {
			return nil
		}
		d.done.Wait()
		return d.store.Close()
	})
	if !s.config.readOnly() {
		compactor, err := storage.NewCompactor(ctx, d.store, s.config.Compaction, s.log)
		if err != nil {
			return err
		}
		d.done.Go(func() { compactor.Run(run) })
	}
	s.data = d
	timeline := d.connect(s.config, c.Root)
	d.done.Go(func() {
		if err := d.plain.Follow(run, timeline.Follow); err != nil && run.Err() == nil {
			s.fail(err)
		}
	})
	select {
	case <-d.cache.Ready():
		return nil
	case err := <-s.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connect makes the parts between the store and the API, and returns the receiver of the timeline of plain.
func (d *data) connect(c *Config, root string) *checkpoint.Timeline {
	d.plain = d.store
	seal := func(_ string, value []byte) ([]byte, error) { return value, nil }
	if c.encryption != nil {
		sealing := encryption.NewStore(d.store, c.encryption.Cipher(d.types.GroupResource, root), root)
		d.plain, seal = sealing, sealing.Seal
	}
	d.decoder = &storage.Decoder{Root: root, Fields: d.types.SelectableFields, Transcode: resources.Transcode,
		Upgrade: resources.Upgrade}
	d.cache = cache.New(cache.Options{Decoder: *d.decoder, EncodingBytes: min(c.memory()/16, mostEncodings)})
	services := registry.Data{Store: d.store, Cache: d.cache, Types: d.types, Root: root}
	d.webhooks = webhook.NewClients(services.ServiceAddress)
	if c.Snapshot.File != "" {
		d.webhooks.Refuse(errNoWebhooks)
	}
	timeline := &checkpoint.Timeline{
		Definitions: customresource.NewInstaller(d.types, d.decoder, d.webhooks, c.Log), Cache: d.cache,
	}
	d.restorer = &checkpoint.Restorer{Store: d.store, Timeline: timeline, Types: d.types, Root: root, Seal: seal,
		EventTTL: cmp.Or(c.API.EventTTL, time.Hour)}
	return timeline
}

// explain adds the flag and a remedy to an error of storage.Open.
func (c *Config) explain(dir string, err error) error {
	switch {
	case errors.Is(err, storage.ErrInUse):
		return fmt.Errorf("--data-dir %s is used by another process", dir)
	case errors.Is(err, storage.ErrDamaged):
		return fmt.Errorf("opening --data-dir %s: %w. Nothing was removed. "+
			"Restore the directory from a backup, or start with another --data-dir", dir, err)
	case errors.Is(err, storage.ErrNotEmpty):
		return fmt.Errorf("--data-dir %s has data already: --from-snapshot needs a new one", dir)
	case c.external():
		return fmt.Errorf("opening --etcd-servers: %w", err)
	}
	return err
}

// readEncryption reads the file of --encryption-provider-config. A server that writes must be able to encrypt.
func (c *Config) readEncryption() (err error) {
	if c.EncryptionFile == "" {
		return nil
	}
	if c.encryption, err = encryption.Load(c.EncryptionFile); err == nil && !c.readOnly() {
		err = c.encryption.Writable()
	}
	if err != nil {
		return fmt.Errorf("--encryption-provider-config: %w", err)
	}
	if plugins := c.encryption.Plugins(); len(plugins) > 0 {
		c.Log.Warn("KMS plugins are not called, so values that they have encrypted can't be read", "plugins",
			strings.Join(plugins, ","))
	}
	return nil
}
