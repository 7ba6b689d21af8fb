package storage

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

const (
	// dialTimeout bounds one attempt to connect, and Open's wait for an answer.
	dialTimeout = 10 * time.Second
	// keepAlive is how often an idle connection is probed and how long the answer may take, so that
	// a watch notices a vanished server; etcd refuses probes more often than every 5 s.
	keepAlive = 10 * time.Second
)

// reconnect is how a lost connection is tried again: gRPC's way, but not with two minutes between
// attempts, for so long all writes would fail at once.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
	MinConnectTimeout: dialTimeout,
}

// dial makes a client of an external cluster. It doesn't wait for a connection.
func dial(c Config) (*clientv3.Client, error) {
	creds, err := clientTLS(c)
	if err != nil {
		return nil, fmt.Errorf("reading etcd client certificates: %w", err)
	}
	quiet := &atomic.Bool{} // a client has nothing to be silent about
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            c.Endpoints,
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    keepAlive,
		DialKeepAliveTimeout: keepAlive,
		PermitWithoutStream:  true,
		TLS:                  creds,
		Logger:               newLog(c.Logger, quiet, &onApply{}, zapcore.WriteThenPanic),
		DialOptions:          []grpc.DialOption{grpc.WithConnectParams(reconnect)},
	})
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd at %s: %w", strings.Join(c.Endpoints, ","), err)
	}
	return client, nil
}

// reach waits until the cluster answers. What has failed last is more use than that time is over,
// which is all that etcd's client would say, so attempts are made one by one.
func reach(ctx context.Context, c *clientv3.Client, key string) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	kv := pb.NewKVClient(c.ActiveConnection())
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	var last error
	for {
		_, err := kv.Range(ctx, &pb.RangeRequest{Key: []byte(key)})
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return failure(ctx, last)
		}
	}
}

// clientTLS returns nil if neither files nor an https endpoint ask for TLS.
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

// remote makes requests over a connection. Reads are repeated by etcd's client if the connection
// breaks; writes only if they were certainly not sent, so none is carried out twice.
type remote struct {
	kv     pb.KVClient
	leases pb.LeaseClient
}

// unlimited leaves it to the server what is too large.
var unlimited = []grpc.CallOption{grpc.MaxCallSendMsgSize(math.MaxInt32), grpc.MaxCallRecvMsgSize(math.MaxInt32)}

func newRemote(c *clientv3.Client) remote {
	return remote{kv: clientv3.RetryKVClient(c), leases: clientv3.RetryLeaseClient(c)}
}

func (r remote) Range(ctx context.Context, q *pb.RangeRequest) (*pb.RangeResponse, error) {
	return r.kv.Range(ctx, q, unlimited...)
}

func (r remote) Txn(ctx context.Context, q *pb.TxnRequest) (*pb.TxnResponse, error) {
	return r.kv.Txn(ctx, q, unlimited...)
}

func (r remote) Compact(ctx context.Context, q *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	return r.kv.Compact(ctx, q, unlimited...)
}

func (r remote) LeaseGrant(ctx context.Context, q *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	return r.leases.LeaseGrant(ctx, q, unlimited...)
}

func (r remote) LeaseRevoke(ctx context.Context, q *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	return r.leases.LeaseRevoke(ctx, q, unlimited...)
}
