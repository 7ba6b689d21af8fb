package backup

import (
	"context"
	"fmt"
	"io"

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
