package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

const (
	// dialTimeout is the timeout of one attempt to connect, and of Open's wait for an answer.
	dialTimeout = 10 * time.Second
	// keepAlive is the interval and the timeout of probes of an idle connection. By them a watch detects that a server
	// is gone. etcd rejects probes at intervals of less than 5 s.
	keepAlive = 10 * time.Second
	// checkTimeout is the timeout of one check of a member, and checkPause the time between Open's attempts.
	checkTimeout, checkPause = 2 * time.Second, 100 * time.Millisecond
)

// reconnect is gRPC's back-off for lost connections, with shorter pauses. With gRPC's own pauses of up to two minutes,
// all writes would fail at once during that time.
var reconnect = grpc.ConnectParams{
	Backoff: backoff.Config{
		BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second,
	},
	MinConnectTimeout: dialTimeout,
}

// external has the state of an external cluster. etcd's client repeats reads if the connection breaks. It repeats
// writes only if they were certainly not sent, so none is carried out twice.
type external struct {
	// members is the client for checks.
	members *clientv3.Client
	// complaint limits how often a member that can't be used is logged.
	complaint rate.Sometimes
	// cluster is the cluster's id, 0 before the first response; seen is the greatest revision in a response.
	cluster atomic.Uint64
	seen    atomic.Int64
}

// connect connects to an external cluster, and checks all members that respond. Config.Fatal is called when the cluster
// is set back later.
func (e *Etcd) connect(ctx context.Context, c Config) error {
	x := &external{complaint: rate.Sometimes{Interval: time.Minute}}
	e.external = x
	tls, err := clientTLS(c)
	if err != nil {
		return fmt.Errorf("reading etcd client certificates: %w", err)
	}
	config := clientv3.Config{
		Endpoints:            c.Endpoints,
		DialKeepAliveTime:    keepAlive,
		DialKeepAliveTimeout: keepAlive,
		PermitWithoutStream:  true,
		TLS:                  tls,
		Logger:               embedded.NewClientLogger(c.Logger),
	}
	dialing := func(dial func(context.Context, string) (net.Conn, error), more ...grpc.DialOption) clientv3.Config {
		out := config
		out.DialOptions = append(more, grpc.WithConnectParams(reconnect), grpc.WithContextDialer(dial),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32))) // the server has limits
		return out
	}
	if x.members, err = clientv3.New(dialing(dialAddress)); err == nil {
		err = e.checkAll(ctx, c.Endpoints)
	}
	if err == nil {
		e.client, err = clientv3.New(dialing(e.dial, grpc.WithChainUnaryInterceptor(e.intercept)))
	}
	if err != nil {
		if x.members != nil {
			x.members.Close()
		}
		return fmt.Errorf("connecting to etcd at %s: %w", strings.Join(c.Endpoints, ","), err)
	}
	// Without the client's own options a request fails at once, instead of waiting until a member can be reached.
	e.client.KV = clientv3.NewKVFromKVClient(clientv3.RetryKVClient(e.client), nil)
	e.leases = clientv3.RetryLeaseClient(e.client)
	context.AfterFunc(e.life, func() {
		e.client.Close()
		x.members.Close()
		if err := context.Cause(e.life); errors.Is(err, ErrSetBack) {
			c.Fatal(err)
		}
	})
	return nil
}

// checkAll checks all endpoints, until one can be used. It returns an error for an endpoint that must not be used. It
// logs endpoints that it can't reach: they are checked when gRPC connects to them.
func (e *Etcd) checkAll(ctx context.Context, endpoints []string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	errs := make([]error, len(endpoints))
	for passed := false; !passed; {
		var all sync.WaitGroup
		for i, endpoint := range endpoints {
			all.Go(func() {
				if err := e.check(ctx, endpoint); err == nil || errs[i] == nil || ctx.Err() == nil {
					errs[i] = err // otherwise the previous error has more details
				}
			})
		}
		all.Wait()
		final := ctx.Err() != nil
		for i, err := range errs {
			if err := unusable(endpoints[i], err); err != nil {
				return err
			}
			passed = passed || err == nil
			final = final || len(errs) == 1 && strings.Contains(fmt.Sprint(err), "tls: ") // needs other settings
		}
		switch {
		case passed:
		case final:
			return fmt.Errorf("%w: %w", ErrUnavailable, errors.Join(append(errs, ctx.Err())...))
		default:
			select {
			case <-time.After(checkPause):
			case <-ctx.Done():
			}
		}
	}
	for i, err := range errs {
		if err != nil {
			e.log.Warn("etcd endpoint is not reachable; its version is checked when it is", "endpoint", endpoints[i], "err", err)
		}
	}
	return nil
}

// unusable returns the error of an endpoint for which Open fails, even if other endpoints can be used.
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

// clientTLS returns nil if neither the files nor an https endpoint require TLS. The first endpoint decides for all
// (client/v3: Client.dialWithBalancer).
func clientTLS(c Config) (*tls.Config, error) {
	if strings.HasPrefix(c.Endpoints[0], "http://") {
		return nil, nil
	}
	if c.CAFile == "" && c.CertFile == "" {
		for _, e := range c.Endpoints {
			if strings.HasPrefix(e, "https://") || strings.HasPrefix(e, "unixs://") {
				return &tls.Config{MinVersion: tls.VersionTLS12}, nil
			}
		}
		return nil, nil
	}
	return transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile}.ClientConfig()
}

// intercept compares the cluster and the revision of each response with those known when its request was sent.
func (e *Etcd) intercept(
	ctx context.Context, method string, q, resp any, conn *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption,
) error {
	known := e.external.seen.Load()
	err := call(ctx, method, q, resp, conn, o...)
	if err == nil {
		err = e.compare(known, resp.(interface{ GetHeader() *pb.ResponseHeader }).GetHeader())
	} else if at, ok := q.(interface{ GetRevision() int64 }); ok && rpctypes.Error(err) == rpctypes.ErrFutureRev {
		if rev := at.GetRevision(); rev <= known {
			err = fmt.Errorf("%w: revision %d, which was read before, is in its future", ErrSetBack, rev)
		}
	}
	if errors.Is(err, ErrSetBack) {
		e.end(err)
	}
	return err
}
