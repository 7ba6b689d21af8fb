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
	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/internal/encryption"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// data is the storage and the cache.
type data struct {
	store *storage.Etcd
	// plain is store with decrypted values.
	plain storage.Store
	// dir is the directory of the server's files.
	dir     string
	cache   *cache.Cache
	decoder *storage.Decoder
	types   *resources.Types
	// clock is the time of controllers and of the times in objects.
	clock *reconcile.Clock
	// webhooks call the webhooks of admission and of CustomResourceDefinitions.
	webhooks *webhook.Clients
	// restorer goes back to checkpoints.
	restorer *backup.Restorer
	// failed receives the error if the cache can't follow the store any more.
	failed chan error
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// storage is what openData opens. fatal is storage.Config.Fatal.
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

// declareTypes returns the table of types that the settings ask for.
func declareTypes(cfg *Config, clock *reconcile.Clock, log *slog.Logger) (*resources.Types, error) {
	serving, absent, err := resources.ParseServing(cfg.Serving)
	if err != nil {
		return nil, fmt.Errorf("--runtime-config: %w", err)
	}
	if len(absent) > 0 {
		log.Warn("enabled API versions are not available", "keys", strings.Join(absent, ","))
	}
	gates, err := cfg.featureGates()
	if err != nil {
		return nil, err
	}
	entries := resources.Complete(resources.Declared(clock.Now, gates), serving)
	if cfg.Simulate {
		entries = append(entries, resources.Metrics(simulation.Metrics)...)
		warnOfAnnotations(entries)
	}
	return resources.NewTable(entries...), nil
}

// openData opens the store and waits until the cache has its state. The data outlives ctx until closed, so that
// requests in flight can finish. fatal is storage.Config.Fatal.
func openData(ctx context.Context, cfg *Config, dir directory, log *slog.Logger, fatal func(error)) (*data, error) {
	c, clock := cfg.storage(dir, log, fatal), &reconcile.Clock{}
	types, err := declareTypes(cfg, clock, log)
	if err != nil {
		return nil, err
	}
	store, err := storage.Open(ctx, c)
	if err != nil {
		return nil, cfg.explain(dir.path, err)
	}
	var compactor *storage.Compactor
	if !cfg.readOnly() {
		if compactor, err = storage.NewCompactor(ctx, store, cfg.Compaction, log); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	d := &data{
		store: store, plain: store, dir: dir.path, types: types, failed: make(chan error, 1),
		clock: clock,
	}
	seal := func(_ string, value []byte) ([]byte, error) { return value, nil }
	if cfg.encryption != nil {
		sealing := encryption.NewStore(store, cfg.encryption.Cipher(d.types, c.Root), c.Root)
		d.plain, seal = sealing, sealing.Seal
	}
	d.decoder = &storage.Decoder{Root: c.Root, Fields: d.types.SelectableFields, Transcode: resources.Transcode,
		Upgrade: resources.Upgrade}
	d.cache = cache.New(cache.Options{Decoder: *d.decoder, EncodingBytes: cfg.memoryForEncodings()})
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	services := registry.Data{Store: store, Cache: d.cache, Types: d.types, Root: c.Root}
	d.webhooks = webhook.NewClients(services.ServiceAddress)
	if cfg.Snapshot.File != "" {
		d.webhooks.Refuse(errNoWebhooks)
	}
	timeline := &backup.Timeline{
		Definitions: customresource.NewInstaller(d.types, d.decoder, d.webhooks, log), Cache: d.cache,
	}
	d.restorer = &backup.Restorer{Store: store, Timeline: timeline, Types: d.types, Root: c.Root, Seal: seal,
		EventTTL: cmp.Or(cfg.API.EventTTL, time.Hour)}
	d.done.Go(func() {
		if err := d.plain.Follow(run, timeline.Follow); err != nil && run.Err() == nil {
			d.failed <- err
		}
	})
	if compactor != nil {
		d.done.Go(func() { compactor.Run(run) })
	}
	if err := d.wait(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// wait waits until the cache has the store's state.
func (d *data) wait(ctx context.Context) error {
	select {
	case <-d.cache.Ready():
		return nil
	case err := <-d.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
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

// close stops the cache and then the store.
func (d *data) close() error {
	d.stop()
	d.done.Wait()
	return d.store.Close()
}
