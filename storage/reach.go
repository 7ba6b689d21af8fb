package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// probePause is the time between two attempts to reach an endpoint, or the cluster, at the start.
	probePause = 100 * time.Millisecond
	// lateAfter is how long Open waits for the other endpoints when one has passed the check.
	lateAfter = 2 * time.Second
)

// probes are the endpoints that Open has a result of: nil if they passed the check, else why they didn't.
type probes map[string]error

// reach checks all endpoints. It returns when one has passed and each of the others has passed, has failed once, or is
// late. gRPC gets no connection to the latter before they are checked. An endpoint that must not be used is an error.
func (g *gate) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	type result struct {
		endpoint string
		err      error
	}
	results := make(chan result)
	for _, e := range g.endpoints {
		go func() {
			for done := false; !done; {
				err := g.probe(ctx, e)
				select {
				case results <- result{e, err}:
				case <-ctx.Done():
				}
				done = err == nil || !pause(ctx, probePause)
			}
		}()
	}
	known, passed := probes{}, false
	var late <-chan time.Time
	for !passed || len(known) < len(g.endpoints) {
		select {
		case r := <-results:
			if err := unusable(r.endpoint, r.err); err != nil {
				return err
			}
			known.record(r.endpoint, r.err, over(ctx))
			if r.err == nil && !passed {
				passed, late = true, time.After(lateAfter)
			}
		case <-late:
			known.wait(g.endpoints)
		case <-ctx.Done():
			return known.failure(ctx, g.endpoints)
		}
	}
	known.log(g.endpoints, g.log)
	return nil
}

// unusable is the error of an endpoint that must not be used, whatever the state of the others.
func unusable(endpoint string, err error) error {
	switch {
	case errors.Is(err, ErrVersion):
		return fmt.Errorf("%s: %w", endpoint, err)
	case errors.Is(err, ErrSetBack): // so far only the other endpoints were read
		return fmt.Errorf("%w: %s and the other endpoints are of different clusters", ErrCluster, endpoint)
	case denied(err):
		return fmt.Errorf("%w: %s: %w: with authentication enabled, etcd takes the common name of the client "+
			"certificate for the user, who needs the permission to read and write all keys, and the role root to compact",
			ErrUnavailable, endpoint, err)
	}
	return nil
}

// denied reports whether etcd rejects a request because of its user.
func denied(err error) bool {
	err = rpctypes.Error(err)
	return err == rpctypes.ErrPermissionDenied || err == rpctypes.ErrUserEmpty || err == rpctypes.ErrUserNotFound
}

// record keeps the result of an attempt, unless the one before says more: a timeout says less than another error, and
// so does a connection that broke after TLS has failed (TLS 1.3 reports that to a client only when it reads).
func (p probes) record(endpoint string, err error, over bool) {
	if before := p[endpoint]; err == nil || before == nil || !over && (aboutTLS(err) || !aboutTLS(before)) {
		p[endpoint] = err
	}
}

// over reports whether ctx has ended or its deadline has passed. A dialer that was cut off by the deadline may say so
// before ctx does.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// aboutTLS reports whether an error comes from a certificate or a handshake. gRPC keeps only its message.
func aboutTLS(err error) bool {
	return strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: ")
}

// wait records that the endpoints without a result are late.
func (p probes) wait(endpoints []string) {
	for _, e := range endpoints {
		if _, ok := p[e]; !ok {
			p[e] = fmt.Errorf("no answer in %v", lateAfter)
		}
	}
}

// log logs the endpoints that don't answer.
func (p probes) log(endpoints []string, log *slog.Logger) {
	for _, e := range endpoints {
		if err := p[e]; err != nil {
			log.Warn("etcd endpoint is not reachable; its version is checked when it is", "endpoint", e, "err", err)
		}
	}
}

// failure is the error if no endpoint answers.
func (p probes) failure(ctx context.Context, endpoints []string) error {
	var reasons []error
	for _, e := range endpoints {
		switch err := p[e]; {
		case err != nil && len(endpoints) == 1:
			return failure(ctx, err)
		case err != nil:
			reasons = append(reasons, fmt.Errorf("%s: %w", e, err))
		}
	}
	if len(reasons) == 0 {
		return failure(ctx, errors.New("no answer"))
	}
	return failure(ctx, errors.Join(reasons...))
}

// answers waits until the cluster answers. It makes attempts one by one, as the last error is of more use than the
// timeout that etcd's client would return.
func answers(ctx context.Context, c *clientv3.Client, key string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	kv := pb.NewKVClient(c.ActiveConnection())
	var last error
	for {
		_, err := kv.Range(ctx, &pb.RangeRequest{Key: []byte(key)})
		if err == nil {
			return nil
		}
		if last == nil || !over(ctx) {
			last = err
		}
		if !pause(ctx, probePause) {
			return failure(ctx, last)
		}
	}
}

// connect connects to an external cluster and waits for an answer.
func (e *Etcd) connect(ctx context.Context, c Config) (err error) {
	known := newHistory(c.Fatal)
	known.doubted, known.inDoubt = e.doubted, e.inDoubt
	client, g, err := dial(c, known)
	if err != nil {
		return err
	}
	e.client, e.history, e.rpc = client, known, newRemote(client, known)
	if err = g.reach(ctx); err == nil {
		err = answers(ctx, client, e.root+"/")
	}
	known.stop = func() { client.Close() }
	if err == nil {
		known.serving.Store(true)
		_, err = known.begin()
	}
	if err != nil {
		client.Close()
		return fmt.Errorf("connecting to etcd at %s: %w", strings.Join(c.Endpoints, ","), err)
	}
	return nil
}

// pause waits for d. It reports whether d has passed before ctx was done.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
