package differ

import (
	"context"
	"fmt"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
)

// cleanFor bounds Clean.
const cleanFor = time.Minute

// Clean deletes what Find and Run made on both servers: all whose names begin with the configuration's prefix. It
// works after ctx has ended, too, and returns what is left, by its server, when a minute hasn't been enough.
func Clean(ctx context.Context, c Config) (left []string, err error) {
	return sweep(ctx, c, cleanFor)
}

func sweep(ctx context.Context, c Config, limit time.Duration) (left []string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var lefts [2][]string
	err = both(func(i int) (err error) {
		lefts[i], err = drive.Sweep(ctx, []drive.Server{c.Reference, c.Candidate}[i], c.Prefix)
		return err
	})
	for i := range lefts {
		for _, l := range lefts[i] {
			left = append(left, names[i]+": "+l)
		}
	}
	if err != nil {
		err = fmt.Errorf("cleaning up: %w", err)
	}
	return left, err
}
