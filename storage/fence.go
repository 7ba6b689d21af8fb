package storage

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// fence stops writes that may have been decided on another history. If etcd has compacted the last event that followers
// saw before a connection is made, only the whole state shows whether etcd was set back meanwhile. Until each
// follower's sink has accepted a whole state, no write is sent over any connection. Otherwise a write could delete an
// object that has no living owner in the old history, but has one in the new one, although all revisions that it
// compares match.
//
// gRPC asks for a request's credentials when it has chosen a connection, which is after the gate has checked it.
type fence struct{ inDoubt func() bool }

// unsettled is the error's message.
const unsettled = "etcd has compacted what was seen last, the whole state is being read again"

var _ credentials.PerRPCCredentials = fence{}

// GetRequestMetadata fails for a transaction while the history is in doubt. etcd's client returns this error.
func (f fence) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	if q, _ := credentials.RequestInfoFromContext(ctx); q.Method == pb.KV_Txn_FullMethodName && f.inDoubt() {
		return nil, status.Error(codes.Unavailable, unsettled)
	}
	return nil, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (fence) RequireTransportSecurity() bool { return false }

// doubted makes followers read the whole state.
func (e *Etcd) doubted() {
	for _, f := range *e.followers.Load() {
		signal(f.behind)
	}
}

// inDoubt reports whether a follower has not received a whole state since the last doubt. A follower without any state
// can't have another history.
func (e *Etcd) inDoubt() bool {
	for _, f := range *e.followers.Load() {
		if f.doubtful() {
			return true
		}
	}
	return false
}

// doubtful reports whether the state that the follower has received may belong to another history.
func (f *follower) doubtful() bool {
	settled := f.settled.Load()
	return settled != 0 && settled <= f.etcd.doubts()
}

// doubts counts the connections for which the history could not be verified.
func (e *Etcd) doubts() int64 {
	if e.history == nil {
		return 0
	}
	return e.history.doubts.Load()
}
