package embedded

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// Sentinel errors. Package storage exports them, too, and their messages name that package. Test with errors.Is.
var (
	// ErrNoSpace reports that the quota is exhausted or, from Start and Stop and in Config.Fatal, that the disk is
	// full.
	ErrNoSpace = errors.New("storage: no space")
	// ErrUnavailable reports that etcd did not answer: it has stopped, or the context is done.
	ErrUnavailable = errors.New("storage: unavailable")
	// ErrInUse reports that another process has the data directory open.
	ErrInUse = errors.New("storage: data directory in use")
	// ErrNotEmpty reports that the directory has data already, so that none can be restored into it.
	ErrNotEmpty = errors.New("storage: data directory has data")
	// ErrDamaged reports that files of the data directory are missing, truncated, or not what etcd wrote. Start leaves
	// them unchanged, except for what etcd itself repairs.
	ErrDamaged = errors.New("storage: data directory damaged")
)

// unavailable returns ErrUnavailable for a request that failed with err. It wraps err, too, and ctx's error if ctx is
// done.
func unavailable(ctx context.Context, err error) error {
	err = rpctypes.Error(err)
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w: %w", ErrUnavailable, ctx.Err(), err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
