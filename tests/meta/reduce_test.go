package meta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// reduce returns a short list of operations that fails as ops does, and its failure. It tries at most a few hundred
// lists, for at most a minute. Each list has a patience of half a second.
func reduce(ctx context.Context, c config, ops []model.Op) ([]model.Op, error) {
	c.patience = time.Second / 2
	prefix, n := c.prefix, 0
	var last *failure
	deadline := time.Now().Add(time.Minute)
	fails := func(try []model.Op) bool {
		n++
		c.prefix = fmt.Sprintf("%sr%d-", prefix, n)
		return time.Now().Before(deadline) && errors.As(run(ctx, c, try), &last)
	}
	if !fails(ops) {
		return nil, errors.New("it passes this time")
	}
	short := model.Shrink(ops[:last.sent], 300, fails)
	return short, last
}
