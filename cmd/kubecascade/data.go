package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook/service"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// data is the storage and the cache.
type data struct {
	store   *storage.Etcd
	cache   *cache.Cache
	decoder *storage.Decoder
	types   *resources.Types
	// webhooks call the webhooks of admission and of CustomResourceDefinitions.
	webhooks *webhook.Clients
	// failed receives the error if the cache can't follow the store any more.
	failed chan error
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// openData opens the store and waits until the cache has its state. The data outlives ctx until closed, so that
// requests in flight can finish. fatal is storage.Config.Fatal.
func openData(ctx context.Context, o *options, log *slog.Logger, fatal func(error)) (*data, error) {
	c := storage.Config{
		Endpoints: o.etcd, CAFile: o.etcdCA, CertFile: o.etcdCert, KeyFile: o.etcdKey, Root: o.etcdPrefix,
		QuotaBytes: o.quota, Fatal: fatal, Logger: log,
	}
	if len(o.etcd) == 0 {
		c.Ephemeral = o.ephemeral
		c.DataDir = filepath.Join(o.dataDir, "etcd")
		if o.ephemeral {
			c.DataDir = o.dataDir
		}
	}
	serving, absent, err := resources.ParseServing(o.runtimeConfig)
	if err != nil {
		return nil, fmt.Errorf("--runtime-config: %w", err)
	}
	if len(absent) > 0 {
		log.Warn("--runtime-config has versions that are not available", "keys", strings.Join(absent, ","))
	}
	store, err := storage.Open(ctx, c)
	if err != nil {
		return nil, o.explain(err)
	}
	compactor, err := storage.NewCompactor(ctx, store, o.compaction, log)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	d := &data{store: store, types: resources.NewTable(resources.Every(serving)...), failed: make(chan error, 1)}
	d.decoder = &storage.Decoder{Root: o.etcdPrefix, Fields: d.types.SelectableFields, Transcode: resources.Transcode}
	d.cache = cache.New(cache.Options{Decoder: *d.decoder})
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	d.webhooks = webhook.NewClients(service.Resolver(service.Config{
		Revision: store.Revision, Cache: d.cache, Types: d.types, Root: o.etcdPrefix,
	}))
	definitions := customresource.NewInstaller(d.types, o.etcdPrefix, d.webhooks, log)
	d.done.Go(func() {
		follow := func(b storage.Batch) error {
			definitions.Apply(b)
			return d.cache.Apply(b)
		}
		if err := store.Follow(run, follow); err != nil && run.Err() == nil {
			d.failed <- fmt.Errorf("watching etcd: %w", err)
		}
	})
	d.done.Go(func() { compactor.Run(run) })
	select {
	case <-d.cache.Ready():
		return d, nil
	case err = <-d.failed:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, errors.Join(err, d.close())
}

// explain adds the flag and a remedy to an error of storage.Open.
func (o *options) explain(err error) error {
	switch {
	case errors.Is(err, storage.ErrInUse):
		return fmt.Errorf("--data-dir %s is used by another process", o.dataDir)
	case errors.Is(err, storage.ErrDamaged):
		return fmt.Errorf("opening --data-dir %s: %w. Nothing was removed. "+
			"Restore the directory from a backup, or start with another --data-dir", o.dataDir, err)
	case len(o.etcd) > 0:
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
