package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

func (c *client) revision(ctx context.Context, path string) (string, error) {
	_, revision, err := c.metadata(ctx, request{method: "GET", path: path + "?limit=1"})
	return revision, err
}

// metadata sends a request and returns the uid and resourceVersion in the response.
func (c *client) metadata(ctx context.Context, r request) (uid, revision string, err error) {
	data, err := c.read(ctx, r)
	if err != nil {
		return "", "", err
	}
	var o struct {
		Metadata struct{ UID, ResourceVersion string }
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return "", "", fmt.Errorf("decoding the response of %s: %w", r.path, err)
	}
	return o.Metadata.UID, o.Metadata.ResourceVersion, nil
}

// cascade measures the time from the deletion of an owner until a watch has the events of all its dependents. It
// compares the rate with that of etcd alone for the same number of keys.
func cascade(policy string) func(context.Context, *run) error {
	change, value := "DELETED", []byte(nil)
	if policy == "Orphan" {
		change, value = "MODIFIED", []byte(configMaps.object("x", "k", "w"))
	}
	return func(ctx context.Context, r *run) error {
		namespace, err := r.namespace(ctx)
		if err != nil {
			return err
		}
		n, c, path := r.bench.size(20_000), r.server.admin, configMaps.path(namespace)
		if err := own(ctx, c, path, n); err != nil {
			return err
		}
		etcd, err := etcdRate(ctx, n, value)
		if err != nil {
			return fmt.Errorf("measuring etcd: %w", err)
		}
		revision, err := c.revision(ctx, path)
		if err != nil {
			return err
		}
		done, err := c.count(ctx, path+"?watch=1&labelSelector=owned&resourceVersion="+revision, change, n)
		if err != nil {
			return err
		}
		s, err := r.until(ctx, "", n, done, func() error {
			body := fmt.Sprintf(`{"propagationPolicy":%q}`, policy)
			return c.send(ctx, request{method: "DELETE", path: path + "/owner", body: body})
		})
		r.add(ofEtcd, sample{value: 100 * s.value / etcd, unit: "%"})
		return err
	}
}

// ofEtcd is the name of the figure that divides a cascade's rate by etcd's.
const ofEtcd = "part of etcd's rate"

// own creates an owner with n dependents.
func own(ctx context.Context, c *client, path string, n int) error {
	uid, _, err := c.metadata(ctx, request{method: "POST", path: path, body: `{"metadata":{"name":"owner"}}`})
	if err != nil {
		return err
	}
	_, err = inParallel(ctx, 32, n, func(ctx context.Context, i int) error {
		return c.send(ctx, request{method: "POST", path: path, body: fmt.Sprintf(
			`{"metadata":{"name":"d%d","labels":{"owned":""},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",
			"name":"owner","uid":%q,"blockOwnerDeletion":true}]}}`, i, uid)})
	})
	return err
}

// etcdRate returns the number of keys per second that an etcd updates to a value, or deletes if value is nil, for 64
// goroutines. The etcd runs in this process, with the configuration of the server's etcd.
func etcdRate(ctx context.Context, n int, value []byte) (rate float64, err error) {
	dir, err := os.MkdirTemp("", "kubecascade-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := storage.Open(ctx, storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	revisions := make([]int64, n)
	write := func(value []byte) error {
		_, err := inParallel(ctx, 64, n, func(ctx context.Context, i int) (err error) {
			t := storage.Txn{Key: fmt.Sprintf("/registry/configmaps/default/%d", i), Value: value, Expect: revisions[i]}
			revisions[i], err = e.Commit(ctx, t)
			return err
		})
		return err
	}
	if err := write([]byte(configMaps.object("x", "k", "v"))); err != nil {
		return 0, err
	}
	began := time.Now()
	err = write(value)
	return float64(n) / time.Since(began).Seconds(), err
}

func cascadeCases(n int) (cases []workload) {
	for _, policy := range []string{"Background", "Foreground", "Orphan"} {
		cases = append(cases, workload{name: fmt.Sprintf("cascade of %d, %s", n, policy), figures: []string{"", ofEtcd},
			run: cascade(policy)})
	}
	return cases
}
