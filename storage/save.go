package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Save writes a snapshot of all that is stored, in the format of "etcdctl snapshot save": the database of etcd, with
// its history, and a hash. It has every write that was acknowledged before the call. While w is slow, the embedded etcd
// can't use the space of what is deleted meanwhile. It ends when ctx is done, or when the store is closed.
func (e *Etcd) Save(ctx context.Context, w io.Writer) error {
	if err := e.beginRequest(ctx); err != nil {
		return err
	}
	defer e.endRequest()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	w = &ending{ctx, w}
	resp, err := e.client.SnapshotWithVersion(ctx)
	if err != nil {
		return fmt.Errorf("saving a snapshot: %w", e.failure(ctx, err))
	}
	_, err = io.Copy(w, resp.Snapshot)
	if err = errors.Join(err, resp.Snapshot.Close()); err != nil {
		return fmt.Errorf("saving a snapshot: %w", err)
	}
	return nil
}

// ending is a writer that fails when ctx is done.
type ending struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (e *ending) Write(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return e.w.Write(p)
}
