package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
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
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

const (
	// dialTimeout is the timeout of one attempt to connect, and of Open's wait for an answer.
	dialTimeout = 10 * time.Second
	// keepAlive is the interval and the timeout of probes of an idle connection, by which a watch notices that a server
	// is gone; etcd rejects probes more often than every 5 s.
	keepAlive = 10 * time.Second
	// checkTimeout is the timeout of one check of a member, and checkPause the time between Open's attempts.
	checkTimeout, checkPause = 2 * time.Second, 100 * time.Millisecond
)

// reconnect is gRPC's backoff for lost connections, but not with up to two minutes between attempts, during which all
// writes would fail at once.
var reconnect = grpc.ConnectParams{
	Backoff: backoff.Config{
		BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second,
	},
	MinConnectTimeout: dialTimeout,
}

// external makes requests to an external cluster. etcd's client repeats reads if the connection breaks. It repeats
// writes only if they were certainly not sent, so none is carried out twice.
type external struct {
	// client is the client of the cluster, members the one for checks.
	client, members *clientv3.Client
	kv              pb.KVClient
	leases          pb.LeaseClient
	root            string
	log             *slog.Logger
	// complaint limits how often a member that can't be used is logged.
	complaint rate.Sometimes
	// cluster is the cluster's id, 0 before the first response; seen is the greatest revision that etcd has named.
	cluster atomic.Uint64
	seen    atomic.Int64
	// life is done when the store carries out nothing more, for the reason that was passed to end.
	life context.Context
	end  context.CancelCauseFunc
}

// connect connects to an external cluster, whose members are all checked if they respond. Config.Fatal is called when
// the cluster is set back later.
func (e *Etcd) connect(ctx context.Context, c Config) error {
	x := &external{
		root: c.Root, log: c.Logger, complaint: rate.Sometimes{Interval: time.Minute}, life: e.life, end: e.end,
	}
	tls, err := clientTLS(c)
	if err != nil {
		return fmt.Errorf("reading etcd client certificates: %w", err)
	}
	config := clientv3.Config{
		Endpoints:            c.Endpoints,
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    keepAlive,
		DialKeepAliveTimeout: keepAlive,
		PermitWithoutStream:  true,
		TLS:                  tls,
		Logger:               embedded.NewClientLogger(c.Logger),
	}
	dialing := func(dial func(context.Context, string) (net.Conn, error)) clientv3.Config {
		out := config
		out.DialOptions = []grpc.DialOption{grpc.WithConnectParams(reconnect), grpc.WithContextDialer(dial)}
		return out
	}
	if x.members, err = clientv3.New(dialing(dialAddress)); err == nil {
		err = x.checkAll(ctx, c.Endpoints)
	}
	if err == nil {
		x.client, err = clientv3.New(dialing(x.dial))
	}
	if err != nil {
		if x.members != nil {
			x.members.Close()
		}
		return fmt.Errorf("connecting to etcd at %s: %w", strings.Join(c.Endpoints, ","), err)
	}
	x.kv, x.leases = clientv3.RetryKVClient(x.client), clientv3.RetryLeaseClient(x.client)
	e.rpc, e.external = x, x
	context.AfterFunc(e.life, func() {
		x.close()
		if err := context.Cause(e.life); errors.Is(err, ErrSetBack) {
			c.Fatal(err)
		}
	})
	return nil
}

// close closes the connections.
func (x *external) close() {
	x.client.Close()
	x.members.Close()
}

// checkAll checks all endpoints, until one can be used. An endpoint that must not be used is an error; others are
// logged, and checked when gRPC connects to them.
func (x *external) checkAll(ctx context.Context, endpoints []string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	errs := make([]error, len(endpoints))
	for {
		passed, all := false, sync.WaitGroup{}
		for i, endpoint := range endpoints {
			all.Go(func() { errs[i] = informative(errs[i], x.check(ctx, endpoint)) })
		}
		all.Wait()
		for i, err := range errs {
			if err := unusable(endpoints[i], err); err != nil {
				return err
			}
			passed = passed || err == nil
		}
		if passed {
			break
		}
		select {
		case <-time.After(checkPause):
		case <-ctx.Done():
			return failure(ctx, errors.Join(errs...))
		}
	}
	for i, err := range errs {
		if err != nil {
			x.log.Warn("etcd endpoint is not reachable; its version is checked when it is", "endpoint", endpoints[i], "err", err)
		}
	}
	return nil
}

// informative returns the error of an endpoint, or that of the attempt before if it says more: a timeout says less, and
// so does a connection that broke after TLS has failed (TLS 1.3 reports that to a client only when it reads).
func informative(before, err error) error {
	aboutTLS := func(err error) bool {
		return strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: ")
	}
	late := errors.Is(err, context.DeadlineExceeded) || status.Code(err) == codes.DeadlineExceeded
	if err != nil && before != nil && (late || aboutTLS(before) && !aboutTLS(err)) {
		return before
	}
	return err
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

// unlimited leaves the limits of message sizes to the server.
var unlimited = []grpc.CallOption{grpc.MaxCallSendMsgSize(math.MaxInt32), grpc.MaxCallRecvMsgSize(math.MaxInt32)}

// answer is the common part of etcd's responses.
type answer interface{ GetHeader() *pb.ResponseHeader }

// send makes a linearizable request, and compares the response with what was known when it was sent. rev is the
// revision that the request names, if any.
func send[Q any, A answer](
	ctx context.Context, x *external, call func(context.Context, Q, ...grpc.CallOption) (A, error), q Q, rev int64,
) (A, error) {
	known := x.seen.Load()
	resp, err := call(ctx, q, unlimited...)
	switch {
	case err == nil:
		err = x.compare(known, resp.GetHeader())
	case rpctypes.Error(err) == rpctypes.ErrFutureRev && 0 < rev && rev <= known:
		err = fmt.Errorf("%w: revision %d, which was there, is in its future", ErrSetBack, rev)
	}
	if errors.Is(err, ErrSetBack) {
		x.end(err)
	}
	if err != nil && x.life.Err() != nil {
		err = unavailable(context.Cause(x.life)) // instead of that the connection was closed
	}
	return resp, err
}

func (x *external) Range(ctx context.Context, q *pb.RangeRequest) (*pb.RangeResponse, error) {
	return send(ctx, x, x.kv.Range, q, q.Revision)
}

func (x *external) Txn(ctx context.Context, q *pb.TxnRequest) (*pb.TxnResponse, error) {
	return send(ctx, x, x.kv.Txn, q, 0)
}

func (x *external) Compact(ctx context.Context, q *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	return send(ctx, x, x.kv.Compact, q, q.Revision)
}

func (x *external) LeaseGrant(ctx context.Context, q *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	return send(ctx, x, x.leases.LeaseGrant, q, 0)
}

func (x *external) LeaseRevoke(ctx context.Context, q *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	return send(ctx, x, x.leases.LeaseRevoke, q, 0)
}
