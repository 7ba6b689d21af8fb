package storage

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"strings"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/kubecascade/kubecascade/storage/embedded"
)

const (
	// dialTimeout is the timeout of one attempt to connect, and of Open's wait for an answer.
	dialTimeout = 10 * time.Second
	// keepAlive is the interval and the timeout of probes of an idle connection, by which a watch notices that a server
	// is gone; etcd rejects probes more often than every 5 s.
	keepAlive = 10 * time.Second
)

// reconnect is gRPC's backoff for lost connections, but not with up to two minutes between attempts, during which all
// writes would fail at once.
var reconnect = grpc.ConnectParams{
	Backoff: backoff.Config{
		BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second,
	},
	MinConnectTimeout: dialTimeout,
}

// dial creates a client of an external cluster, and the gate that checks its connections. It doesn't wait for a
// connection.
func dial(c Config, known *history) (*clientv3.Client, *gate, error) {
	creds, err := clientTLS(c)
	if err != nil {
		return nil, nil, fmt.Errorf("reading etcd client certificates: %w", err)
	}
	config := clientv3.Config{
		Endpoints:            c.Endpoints,
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    keepAlive,
		DialKeepAliveTimeout: keepAlive,
		PermitWithoutStream:  true,
		TLS:                  creds,
		Logger:               embedded.NewClientLogger(c.Logger),
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(reconnect), grpc.WithPerRPCCredentials(fence{known.inDoubt}),
		},
	}
	g := newGate(c, &config, known)
	client, err := clientv3.New(config)
	if err != nil {
		return nil, nil, fmt.Errorf("connecting to etcd at %s: %w", strings.Join(c.Endpoints, ","), err)
	}
	return client, g, nil
}

// clientTLS returns nil if neither the files nor an https endpoint require TLS.
func clientTLS(c Config) (*tls.Config, error) {
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

// remote makes requests to an external cluster. etcd's client repeats reads if the connection breaks. It repeats writes
// only if they were certainly not sent, so none is carried out twice.
type remote struct {
	kv      pb.KVClient
	leases  pb.LeaseClient
	history *history
}

// unlimited leaves the limits of message sizes to the server.
var unlimited = []grpc.CallOption{grpc.MaxCallSendMsgSize(math.MaxInt32), grpc.MaxCallRecvMsgSize(math.MaxInt32)}

func newRemote(c *clientv3.Client, known *history) remote {
	return remote{kv: clientv3.RetryKVClient(c), leases: clientv3.RetryLeaseClient(c), history: known}
}

// answer is the common part of etcd's responses.
type answer interface{ GetHeader() *pb.ResponseHeader }

// send makes a linearizable request, and checks that the answer's revision is not before what was known when it was
// sent. rev is the revision that the request names, if any.
func send[Q any, A answer](
	ctx context.Context, h *history, call func(context.Context, Q, ...grpc.CallOption) (A, error), q Q, rev int64,
) (A, error) {
	var none A
	known, err := h.begin()
	if err != nil {
		return none, err
	}
	resp, err := call(ctx, q, unlimited...)
	if err = h.end(known, rev, resp.GetHeader(), err); err != nil {
		return none, err
	}
	return resp, nil
}

func (r remote) Range(ctx context.Context, q *pb.RangeRequest) (*pb.RangeResponse, error) {
	return send(ctx, r.history, r.kv.Range, q, q.Revision)
}

func (r remote) Txn(ctx context.Context, q *pb.TxnRequest) (*pb.TxnResponse, error) {
	return send(ctx, r.history, r.kv.Txn, q, 0)
}

func (r remote) Compact(ctx context.Context, q *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	return send(ctx, r.history, r.kv.Compact, q, q.Revision)
}

func (r remote) LeaseGrant(ctx context.Context, q *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	return send(ctx, r.history, r.leases.LeaseGrant, q, 0)
}

func (r remote) LeaseRevoke(ctx context.Context, q *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	return send(ctx, r.history, r.leases.LeaseRevoke, q, 0)
}
