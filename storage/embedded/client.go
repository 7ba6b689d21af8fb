package embedded

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
)

// Client returns two clients of the server, whose requests are function calls: one for keys, and one for leases with
// ids that the caller may choose. Unlike etcd's v3client it leaves the quota to Admit.
func (s *Server) Client() (*clientv3.Client, pb.LeaseClient) {
	c := clientv3.NewCtxClient(context.Background(), clientv3.WithZapLogger(s.server.Logger()))
	c.KV = clientv3.NewKVFromKVClient(adapter.KvServerToKvClient(v3rpc.NewKVServer(s.server)), c)
	return c, adapter.LeaseServerToLeaseClient(v3rpc.NewLeaseServer(s.server))
}
