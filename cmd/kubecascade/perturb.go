package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/internal/child"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/perturb"
)

// perturb runs the command with one fault at a time, and reports those that change its result. A plan, if it has rules,
// is tried instead of those that are found.
func (o *options) perturb(ctx context.Context, f *faultFlags, args []string, stderr io.Writer) error {
	const unlimited = time.Duration(math.MaxInt64)
	began, limit := time.Now(), unlimited
	ctx = untilSignal(ctx)
	run := func(plan kubecascade.FaultPlan) (got perturb.Outcome, failed error) {
		limited, end := context.WithTimeout(ctx, limit)
		defer end()
		k, err := child.New(limited, args)
		if err != nil {
			return got, err
		}
		if limit == unlimited {
			k.Cmd.Stdout, k.Cmd.Stderr = stderr, stderr
		}
		err = o.run(ctx, k, plan, stderr, func(s *kubecascade.Server) {
			end() // of the command's time
			got, failed = left(ctx, s)
		})
		if limit == unlimited {
			limit = 10*time.Since(began) + 30*time.Second
		}
		switch {
		case ctx.Err() != nil:
			return got, errInterrupted{errors.New("interrupted")}
		case errors.Is(limited.Err(), context.DeadlineExceeded):
			got.Exit, err = fmt.Sprintf("the command did not end within %v", limit.Round(time.Second)), unreported(err)
		case err != nil && unreported(err) == nil:
			got.Exit, err = err.Error(), nil
		}
		return got, errors.Join(err, failed)
	}
	found, err := perturb.Search(stderr, f.seed, f.plan, run, func() bool { return time.Since(began) > f.budget })
	if err == nil && found > 0 {
		err = errFound
	}
	return err
}

// left returns the requests and the objects at the end of a command, when the controllers are idle or after ten
// seconds.
func left(ctx context.Context, s *kubecascade.Server) (got perturb.Outcome, err error) {
	got.Fired = s.Faults().Report().Fired
	s.Faults().Remove(0)
	idle, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_ = s.Settle(idle)
	h, err := rest.HTTPClientFor(s.Config())
	if err == nil {
		got.Objects, got.Unknown, err = cluster.Owners(ctx, &cluster.Client{URL: s.URL(), HTTP: h})
	}
	return got, err
}
