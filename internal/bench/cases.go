package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

// size is how large the binary is.
func (b *bench) size(context.Context) ([]row, error) {
	st, err := os.Stat(b.binary)
	if err != nil {
		return nil, err
	}
	return []row{rowOf("binary", "MB", []float64{float64(st.Size()) / 1e6})}, nil
}

// start is how long until the first write is accepted, with a new data directory, and how much
// memory the process then has after two seconds of rest.
func (b *bench) start(ctx context.Context) ([]row, error) {
	var first, memory []float64
	for range b.runs {
		p, err := b.run()
		if err != nil {
			return nil, err
		}
		took, err := p.firstWrite(ctx)
		if err == nil {
			first = append(first, float64(took.Microseconds())/1000)
			time.Sleep(2 * time.Second) // "idle" means that some time has passed
			var mib float64
			mib, err = p.resident()
			memory = append(memory, mib)
		}
		if err := errors.Join(err, p.stop()); err != nil {
			return nil, err
		}
	}
	return []row{rowOf("start to first write", "ms", first), rowOf("resident, idle", "MiB", memory)}, nil
}

// load is writes and reads by 1 and by 32 clients.
func (b *bench) load(ctx context.Context) (rows []row, err error) {
	return rows, b.serving(ctx, func(p *process, c *http.Client) error {
		url := p.secure + "/api/v1/namespaces/default/configmaps"
		for _, clients := range []int{1, 32} {
			n := b.objects
			if clients == 1 {
				n /= 5
			}
			name := func(i int) string { return fmt.Sprintf("c%d-%d", clients, i) }
			for _, k := range []struct {
				verb string
				do   func(i int) error
			}{
				{"create", func(i int) error {
					_, err := do(ctx, c, http.MethodPost, url, fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"k":"v"}}`, name(i)))
					return err
				}},
				{"get", func(i int) error {
					_, err := do(ctx, c, http.MethodGet, url+"/"+name(i), nil)
					return err
				}},
				{"merge patch", func(i int) error {
					_, err := do(ctx, c, http.MethodPatch, url+"/"+name(i), []byte(`{"data":{"k":"w"}}`))
					return err
				}},
				{"delete", func(i int) error {
					_, err := do(ctx, c, http.MethodDelete, url+"/"+name(i), nil)
					return err
				}},
			} {
				rate, err := inParallel(clients, n, k.do)
				if err != nil {
					return err
				}
				rows = append(rows, rowOf(fmt.Sprintf("%s, %d clients", k.verb, clients), "/s", []float64{rate}))
			}
		}
		return nil
	})
}

// serving runs f against a new server.
func (b *bench) serving(ctx context.Context, f func(*process, *http.Client) error) error {
	p, err := b.run()
	if err != nil {
		return err
	}
	if _, err = p.firstWrite(ctx); err == nil {
		var c *http.Client
		if c, err = p.client(); err == nil {
			err = f(p, c)
		}
	}
	return errors.Join(err, p.stop())
}

// inParallel calls f for 0..n-1 from that many goroutines and returns the calls a second.
func inParallel(clients, n int, f func(i int) error) (rate float64, err error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	failures := make(chan error, clients)
	began := time.Now()
	for range clients {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := f(int(i)); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	select {
	case err = <-failures:
	default:
	}
	return float64(n) / took.Seconds(), err
}

// cascades deletes an owner in each policy and measures until the last dependent is gone, or free.
func (b *bench) cascades(ctx context.Context) (rows []row, err error) {
	return rows, b.serving(ctx, func(p *process, c *http.Client) error {
		for _, policy := range []string{"Background", "Foreground", "Orphan"} {
			var rates []float64
			for run := range b.runs {
				took, err := b.cascade(ctx, p, c, policy, fmt.Sprintf("%c%d", policy[0]|0x20, run))
				if err != nil {
					return err
				}
				rates = append(rates, float64(b.dependents)/took.Seconds())
			}
			rows = append(rows, rowOf(fmt.Sprintf("cascade of %d, %s", b.dependents, policy), "/s", rates))
		}
		return nil
	})
}

func (b *bench) cascade(ctx context.Context, p *process, c *http.Client, policy, id string) (time.Duration, error) {
	url := p.secure + "/api/v1/namespaces/default/configmaps"
	data, err := do(ctx, c, http.MethodPost, url, fmt.Appendf(nil, `{"metadata":{"name":"owner-%s"}}`, id))
	if err != nil {
		return 0, err
	}
	var owner struct {
		Metadata struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &owner); err != nil {
		return 0, err
	}
	if _, err = inParallel(32, b.dependents, func(i int) error {
		_, err := do(ctx, c, http.MethodPost, url, fmt.Appendf(nil,
			`{"metadata":{"name":"d-%s-%d","labels":{"cascade":%q},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner-%s","uid":%q,"blockOwnerDeletion":true}]}}`,
			id, i, id, id, owner.Metadata.UID))
		return err
	}); err != nil {
		return 0, err
	}
	change := "DELETED"
	if policy == "Orphan" {
		change = "MODIFIED"
	}
	done, err := watchChanges(ctx, c, url+"?watch=1&resourceVersion="+owner.Metadata.ResourceVersion+"&labelSelector=cascade%3D"+id, change, b.dependents)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := do(ctx, c, http.MethodDelete, url+"/owner-"+id, fmt.Appendf(nil, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":%q}`, policy)); err != nil {
		return 0, err
	}
	if err := <-done; err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

// watchChanges counts events of the type, and sends on the channel when there were n.
func watchChanges(ctx context.Context, c *http.Client, url, want string, n int) (<-chan error, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		defer res.Body.Close()
		for d := json.NewDecoder(res.Body); n > 0; {
			var e struct {
				Type string `json:"type"`
			}
			if err := d.Decode(&e); err != nil {
				done <- fmt.Errorf("watching for %s: %w", want, err)
				return
			}
			if e.Type == want {
				n--
			}
		}
		done <- nil
	}()
	return done, nil
}

// bareEtcd is what the embedded etcd alone does on the same disk: conditional creates and deletes
// by 64 writers, in this process.
func (b *bench) bareEtcd(ctx context.Context) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "kubecascade-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := storage.Open(ctx, storage.Config{DataDir: dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	value := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"default"}}`)
	revs := make([]int64, b.objects)
	key := func(i int) string { return "/registry/configmaps/default/" + strconv.Itoa(i) }
	create, err := inParallel(64, b.objects, func(i int) (err error) {
		revs[i], err = e.Commit(ctx, storage.Txn{Key: key(i), Value: value})
		return err
	})
	if err != nil {
		return nil, err
	}
	remove, err := inParallel(64, b.objects, func(i int) error {
		_, err := e.Commit(ctx, storage.Txn{Key: key(i), Expect: revs[i]})
		return err
	})
	return []row{rowOf("bare etcd create, 64 writers", "/s", []float64{create}), rowOf("bare etcd delete, 64 writers", "/s", []float64{remove})}, err
}
