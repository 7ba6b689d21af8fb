package differ

import (
	"context"
	"fmt"
	"sync"
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
	var wg sync.WaitGroup
	var lefts [2][]string
	var errs [2]error
	for i, url := range []string{c.Reference, c.Candidate} {
		wg.Go(func() { lefts[i], errs[i] = drive.Sweep(ctx, url, c.Prefix, c.Client) })
	}
	wg.Wait()
	for i := range lefts {
		for _, l := range lefts[i] {
			left = append(left, names[i]+": "+l)
		}
		if errs[i] != nil && err == nil {
			err = fmt.Errorf("cleaning up the %s: %w", names[i], errs[i])
		}
	}
	return left, err
}
