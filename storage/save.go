package storage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// Save writes a snapshot of all that is stored, in the format of "etcdctl snapshot save": the database of etcd, with
// its history, and a hash. It has every write that was acknowledged before the call. While Save runs, the embedded etcd
// can't reuse the space of deleted data. Save ends when ctx is done, or when the store is closed.
func (e *Etcd) Save(ctx context.Context, w io.Writer) error {
	if err := e.beginRequest(ctx); err != nil {
		return err
	}
	defer e.endRequest()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	save := e.saveRemote
	if e.local != nil {
		save = e.saveLocal
	}
	err := save(ctx, w)
	if ctx.Err() != nil {
		err = e.failure(ctx, err)
	}
	if err != nil {
		return fmt.Errorf("saving a snapshot: %w", err)
	}
	return nil
}

// saveLocal writes the database and its hash, as etcd's server sends it (etcd server/etcdserver/api/v3rpc/
// maintenance.go: Snapshot).
func (e *Etcd) saveLocal(ctx context.Context, w io.Writer) error {
	s := e.local.Etcd().Backend().Snapshot()
	h := sha256.New()
	_, err := s.WriteTo(io.MultiWriter(ending{ctx, w}, h))
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	_, err = w.Write(h.Sum(nil))
	return err
}

// saveRemote copies the stream of a member, which ends with the hash.
func (e *Etcd) saveRemote(ctx context.Context, w io.Writer) error {
	resp, err := e.client.SnapshotWithVersion(ctx)
	if err != nil {
		return e.failure(ctx, err)
	}
	_, err = io.Copy(w, resp.Snapshot)
	return errors.Join(err, resp.Snapshot.Close())
}

// ending is a writer that fails when ctx is done.
type ending struct {
	ctx context.Context
	io.Writer
}

func (e ending) Write(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.Writer.Write(p)
}
