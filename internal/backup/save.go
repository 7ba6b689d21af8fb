package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kubecascade/kubecascade/internal/cluster"
)

// Save saves a snapshot of a server to a file, if it is whole, and prints what it contains.
func Save(ctx context.Context, from *cluster.Client, file string, out io.Writer) error {
	var r *Report
	err := from.SaveSnapshot(ctx, file, func(part string) (err error) {
		r, err = Inspect(ctx, part, Options{})
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "saved %d objects at revision %d, %d bytes\n", r.Objects, r.Revision, r.Bytes)
	return err
}

// Send is Save to a stream. What it contains goes to log. Nothing is written to the stream before the snapshot is known
// to be whole, so it is in a temporary file first. That has no name any more when the stream is written, where an open
// file can be removed: a stream whose reader has gone ends the process (SIGPIPE), and Secrets must not stay behind.
func Send(ctx context.Context, from *cluster.Client, to, log io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "kubecascade-snapshot-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "snapshot.db")
	if err := Save(ctx, from, file, log); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_ = os.RemoveAll(dir) // or at the end
	_, err = io.Copy(to, f)
	return errors.Join(err, f.Close())
}
