package differ

import (
	"context"
	"fmt"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
)

// cleanFor is the maximum duration of Clean.
const cleanFor = time.Minute

// Clean deletes the objects that Find and Run have created on both servers: all objects whose names begin with the
// configuration's prefix. It also works after ctx has ended. If a minute is not enough, it returns the remaining
// objects, with their server.
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
