package storage

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// fence holds back what was decided by what may be another history. When a connection is made after etcd has
// compacted what followers saw last, only a whole state can tell whether etcd was set back meanwhile. Until each
// follower's sink has accepted one, no write is sent over any connection: it could remove what has no living
// owner in the one history and has one in the other, and be right by the revisions that it compares.
//
// gRPC asks for a request's credentials when it has chosen a connection, and so after the gate has opened that.
type fence struct{ inDoubt func() bool }

// unsettled is the error's message.
const unsettled = "etcd has compacted what was seen last, the whole state is being read again"

var _ credentials.PerRPCCredentials = fence{}

// GetRequestMetadata fails for a transaction while there is a doubt. The error is one that etcd's client returns.
func (f fence) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	if q, _ := credentials.RequestInfoFromContext(ctx); q.Method == pb.KV_Txn_FullMethodName && f.inDoubt() {
		return nil, status.Error(codes.Unavailable, unsettled)
	}
	return nil, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (fence) RequireTransportSecurity() bool { return false }

// doubted tells followers that they need the whole state.
func (e *Etcd) doubted() {
	for _, f := range *e.followers.Load() {
		signal(f.behind)
	}
}

// inDoubt reports whether a follower has not been given a whole state since the last doubt. One that has none
// yet knows nothing that could be of another history.
func (e *Etcd) inDoubt() bool {
	for _, f := range *e.followers.Load() {
		if f.doubtful() {
			return true
		}
	}
	return false
}

// doubtful reports whether what the follower was given may be of another history.
func (f *follower) doubtful() bool {
	settled := f.settled.Load()
	return settled != 0 && settled <= f.etcd.doubts()
}

// doubts counts the connections that gave reason to doubt.
func (e *Etcd) doubts() int64 {
	if e.history == nil {
		return 0
	}
	return e.history.doubts.Load()
}
