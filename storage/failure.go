package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// failures maps errors of etcd to errors of this package. All others become ErrUnavailable: it is then unknown whether
// the request was carried out.
var failures = map[error]error{
	rpctypes.ErrCompacted:       ErrCompacted,
	rpctypes.ErrFutureRev:       ErrFuture,
	rpctypes.ErrRequestTooLarge: ErrTooLarge,
	rpctypes.ErrNoSpace:         ErrNoSpace,
}

// ended returns ErrUnavailable with the reason why no request is carried out any more.
func (e *Etcd) ended() error {
	if err := context.Cause(e.life); !errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return errClosed
}

// failure turns an error of etcd's client into one of this package. It wraps etcd's error, and ctx's if that ended the
// request. After Close, and after an external cluster was set back, it returns that reason for all requests.
func (e *Etcd) failure(ctx context.Context, err error) error {
	if e.life.Err() != nil {
		return e.ended()
	}
	// The API's errors are comparable, so they can be map keys.
	err = rpctypes.Error(err)
	if known, ok := err.(rpctypes.EtcdError); ok && failures[known] != nil {
		return fmt.Errorf("%w: %w", failures[known], err)
	}
	// The client rejects a message that exceeds its own limit before the server sees it.
	if s, ok := status.FromError(err); ok && s.Code() == codes.ResourceExhausted &&
		strings.Contains(s.Message(), "larger than max") {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ctx.Err(), err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
