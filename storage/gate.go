package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// probeTimeout is the timeout of one check of a member, and otherTimeout that of the check of the other members when
// one has another history.
const probeTimeout, otherTimeout = 5 * time.Second, 2 * time.Second

// gate opens the connections to an external cluster. No request is sent over a connection before the member at its
// other end was checked: its version, and its cluster's history. A member can't be upgraded, downgraded, replaced or
// restored without breaking its connections, so one check is enough for a connection.
type gate struct {
	history *history
	root    string
	log     *slog.Logger
	dialer  net.Dialer
	// endpoints are those of the configuration, and named has them by the address that gRPC dials.
	endpoints []string
	named     map[string]string
	// client is the configuration of the connections for checks, without the endpoint.
	client clientv3.Config

	mu sync.Mutex // guards the fields below
	// rejected has the last logged error of each endpoint that can't be used.
	rejected map[string]string
	// passed has the endpoints that have passed the check once. That another endpoint has another history doesn't mean
	// that the cluster was replaced.
	passed map[string]bool
}

// newGate returns the gate for a client, and adds it to the client's options.
func newGate(c Config, client *clientv3.Config, h *history) *gate {
	g := &gate{
		history: h, root: c.Root, log: c.Logger, named: map[string]string{}, rejected: map[string]string{},
		passed: map[string]bool{},
	}
	for _, e := range c.Endpoints {
		if a := address(e); g.named[a] == "" {
			g.named[a] = e
			g.endpoints = append(g.endpoints, e)
		}
	}
	g.client = *client
	g.client.DialOptions = nil
	g.client.Logger = zap.NewNop() // errors are returned
	client.DialOptions = append(client.DialOptions, grpc.WithContextDialer(g.dial))
	return g
}

// address is the address that gRPC dials for an endpoint (client/v3/internal/endpoint.Interpret).
func address(endpoint string) string {
	scheme, rest, ok := strings.Cut(endpoint, ":")
	rest = strings.TrimPrefix(rest, "//")
	switch {
	case ok && (scheme == "unix" || scheme == "unixs"):
		return "unix:" + rest
	case ok && (scheme == "http" || scheme == "https"):
		host, _, _ := strings.Cut(rest, "/")
		return host
	}
	return endpoint
}

// connect dials a TCP or unix address.
func (g *gate) connect(ctx context.Context, addr string) (net.Conn, error) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return g.dialer.DialContext(ctx, "unix", strings.TrimPrefix(path, "//"))
	}
	return g.dialer.DialContext(ctx, "tcp", addr)
}

// dial is gRPC's dialer. It connects before the check, so that the connection breaks if the member is replaced after
// the check.
func (g *gate) dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := g.connect(ctx, addr)
	if err != nil {
		return nil, err
	}
	endpoint := g.endpoint(addr)
	doubt, err := g.check(ctx, endpoint, conn.RemoteAddr())
	if errors.Is(err, ErrSetBack) && g.hasPassed(endpoint) && !g.elsewhere(ctx, endpoint) {
		g.history.fail(fmt.Errorf("etcd at %s: %w", endpoint, err))
	} else {
		g.report(endpoint, err)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("etcd at %s: %w", endpoint, err)
	}
	if doubt {
		g.history.doubt()
	}
	return conn, nil
}

// hasPassed reports whether the endpoint has passed the check once.
func (g *gate) hasPassed(endpoint string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passed[endpoint]
}

// endpoint is the configured endpoint for an address that gRPC dials.
func (g *gate) endpoint(addr string) string {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		addr = "unix:" + strings.TrimPrefix(path, "//")
	}
	if e, ok := g.named[addr]; ok {
		return e
	}
	return addr
}

// probe connects to an endpoint only for the check.
func (g *gate) probe(ctx context.Context, endpoint string) error {
	conn, err := g.connect(ctx, address(endpoint))
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = g.check(ctx, endpoint, conn.RemoteAddr()) // no request is sent over this connection, so a doubt has no effect
	return err
}

// check reads the version and history of the member at the remote address, over a connection of its own. A name with
// several addresses must not lead to another member than the one that was dialed. For doubt see history.check.
func (g *gate) check(ctx context.Context, endpoint string, remote net.Addr) (doubt bool, err error) {
	defer func() {
		if err == nil {
			g.mu.Lock()
			g.passed[endpoint] = true
			g.mu.Unlock()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	c := g.client
	c.Endpoints = []string{endpoint}
	c.DialOptions = []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return g.dialer.DialContext(ctx, remote.Network(), remote.String())
	})}
	client, err := clientv3.New(c)
	if err != nil {
		return false, err
	}
	defer client.Close()
	status, err := pb.NewMaintenanceClient(client.ActiveConnection()).Status(ctx, &pb.StatusRequest{})
	if err != nil {
		return false, err
	}
	if err := supported(status.Version); err != nil {
		return false, err
	}
	if err := g.history.same(status.Header); err != nil {
		return false, err
	}
	return g.history.check(clientv3.WithRequireLeader(ctx), pb.NewKVClient(client.ActiveConnection()), g.root)
}

// elsewhere reports whether another endpoint still has the known history. Then only this endpoint is wrong, and the
// cluster was not replaced.
func (g *gate) elsewhere(ctx context.Context, endpoint string) bool {
	ctx, cancel := context.WithTimeout(ctx, otherTimeout)
	defer cancel()
	var others []string
	for _, e := range g.endpoints {
		if e != endpoint {
			others = append(others, e)
		}
	}
	found := make(chan bool, len(others))
	for _, e := range others {
		go func() { found <- g.probe(ctx, e) == nil }()
	}
	any := false
	for range others {
		any = <-found || any
	}
	return any
}

// report logs that an endpoint can't be used, once for each reason, and that it can be used again. etcd's client logs
// unreachable endpoints.
func (g *gate) report(endpoint string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.rejected[endpoint]
	switch {
	case errors.Is(err, ErrVersion), errors.Is(err, ErrSetBack):
		if g.rejected[endpoint] = err.Error(); was != err.Error() {
			g.log.Error("etcd endpoint is not used", "endpoint", endpoint, "err", err)
		}
	case err == nil && was != "":
		delete(g.rejected, endpoint)
		g.log.Info("etcd endpoint is used again", "endpoint", endpoint)
	}
}
