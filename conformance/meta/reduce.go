package meta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// Reduce returns a short list of operations that fails as ops does, and its failure. It tries at
// most a few hundred lists, for a minute, with a patience of half a second.
func Reduce(ctx context.Context, c Config, ops []model.Op) ([]model.Op, error) {
	c.Patience = time.Second / 2
	prefix, n := c.Prefix, 0
	var failure *Failure
	deadline := time.Now().Add(time.Minute)
	fails := func(try []model.Op) bool {
		n++
		c.Prefix = fmt.Sprintf("%sr%d-", prefix, n)
		return time.Now().Before(deadline) && errors.As(Run(ctx, c, try), &failure)
	}
	if !fails(ops) {
		return nil, errors.New("it passes this time")
	}
	short := model.Shrink(ops[:failure.Sent], 300, fails)
	return short, failure
}
