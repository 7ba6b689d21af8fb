package meta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// Reduce returns a short list of operations that fails as ops does, and its failure. It tries at
// most a few hundred lists, with a patience of half a second.
func Reduce(ctx context.Context, c Config, ops []model.Op) ([]model.Op, error) {
	c.Patience = time.Second / 2
	prefix, n := c.Prefix, 0
	var failure error
	fails := func(try []model.Op) bool {
		n++
		c.Prefix = fmt.Sprintf("%sr%d-", prefix, n)
		err := Run(ctx, c, try)
		if errors.Is(err, ErrDiffers) {
			failure = err
			return true
		}
		return false
	}
	return model.Shrink(ops, 300, fails), failure
}
