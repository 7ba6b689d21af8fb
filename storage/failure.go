package storage

import (
	"context"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// failures says which of our errors one of etcd's is. All others are ErrUnavailable: whether the
// request was carried out is then unknown.
var failures = map[error]error{
	rpctypes.ErrCompacted:       ErrCompacted,
	rpctypes.ErrFutureRev:       ErrFuture,
	rpctypes.ErrRequestTooLarge: ErrTooLarge,
	rpctypes.ErrNoSpace:         ErrNoSpace,
}

// failure turns an error of etcd into one of ours. It keeps etcd's, and ctx's if that is what
// ended the request.
func failure(ctx context.Context, err error) error {
	// The API's errors are values without pointers, so they can be looked up.
	err = rpctypes.Error(err)
	if e, ok := err.(rpctypes.EtcdError); ok && failures[e] != nil {
		return fmt.Errorf("%w: %w", failures[e], err)
	}
	// The connection may refuse a message that the server doesn't get to see.
	if s, ok := status.FromError(err); ok && s.Code() == codes.ResourceExhausted && strings.Contains(s.Message(), "larger than max") {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ctx.Err(), err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
