package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// startCase measures the time from exec to the first accepted write.
func startCase(flags ...string) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		if err := r.start(ctx, flags...); err != nil {
			return err
		}
		err := r.server.admin.create(ctx, configMaps, "default", "first", "k", "v")
		r.add("", sample{value: milliseconds(time.Since(r.server.began)), unit: "ms"})
		return err
	}
}

// snapshotCase measures the time from exec until a server with a snapshot of n objects is ready.
func snapshotCase(n int) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) (err error) {
		if err := r.start(ctx); err != nil {
			return err
		}
		if err := configMaps.fill(ctx, r.server.admin, "default", n, oneKiB); err != nil {
			return err
		}
		file := filepath.Join(r.server.dir, "snapshot.db")
		c := exec.CommandContext(ctx, r.program.path, "snapshot", "save", "--kubeconfig", r.server.Kubeconfig, file)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("saving a snapshot: %w: %s", err, out)
		}
		s, err := r.program.start(ctx, ephemeral, "--from-snapshot", file, "--writable")
		if err == nil {
			r.add("", sample{value: milliseconds(time.Since(s.began)), unit: "ms"})
		}
		return errors.Join(err, s.stop())
	}
}

// The names of idle's figures.
const idleShare, idleResident = "of one processor", "resident"

// idle measures a server without objects and clients for half a minute.
func idle(ctx context.Context, r *run) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	return r.atRest(ctx)
}

// atRest waits until the server is idle, and then measures it for half a minute.
func (r *run) atRest(ctx context.Context) error {
	waited, began := r.wait(ctx, 10*time.Second), time.Now()
	before, unread := processorTime(r.server.PID())
	mebibytes, err := r.idleMemory(ctx)
	after, unread2 := processorTime(r.server.PID())
	r.add(idleShare, sample{value: 100 * float64(after-before) / float64(time.Since(began)), unit: "%"})
	r.add(idleResident, sample{value: mebibytes, unit: "MiB"})
	return errors.Join(waited, unread, err, unread2)
}

// idleCase measures the memory of idle watches over HTTP/2. The watched collection has 100 objects of 1 KiB.
func idleCase(query string) func(context.Context, *run) error {
	return func(ctx context.Context, r *run) error {
		namespace, err := r.fresh(ctx)
		if err != nil {
			return err
		}
		if err := configMaps.fill(ctx, r.server.admin, namespace, 100, oneKiB); err != nil {
			return err
		}
		before, err := r.idleMemory(ctx)
		if err != nil {
			return err
		}
		c, err := r.server.client(http2)
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		n, path := r.bench.size(2000), configMaps.path(namespace)+"?watch=1"+query
		for range n {
			if _, err := c.watch(ctx, path, func([]byte) bool { return true }); err != nil {
				return err
			}
		}
		after, err := r.idleMemory(ctx)
		r.add("", sample{value: (after - before) * 1024 / float64(n), unit: "KiB"})
		return err
	}
}

// idleMemory returns the resident memory of the server after half a minute.
func (r *run) idleMemory(ctx context.Context) (float64, error) {
	if err := r.wait(ctx, 30*time.Second); err != nil {
		return 0, err
	}
	resident, _, err := memory(r.server.PID())
	return resident, err
}

func (b *bench) startCases() []workload {
	n := b.size(10_000)
	return []workload{
		{name: "start to the first write", run: startCase()},
		{name: "start to the first write, ephemeral", run: startCase(ephemeral)},
		{name: fmt.Sprintf("start with a snapshot of %d objects", n), run: snapshotCase(n)},
		{name: "idle", figures: []string{idleShare, idleResident}, run: idle},
		{name: "memory of an idle watch", run: idleCase("")},
		{name: "memory of an idle watch-list", run: idleCase(
			"&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")},
	}
}
