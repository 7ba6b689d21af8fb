package differ

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// sentinelEvery is the number of operations between sentinels.
const sentinelEvery = 50

// wholeFor is how long is waited, after a sentinel, for what happened before it.
const wholeFor = 300 * time.Millisecond

// sentinels has both collectors show that they have come as far as now.
func sentinels(ctx context.Context, c Config, sides [2]*side) error {
	var wg sync.WaitGroup
	var errs [2]error
	for i, s := range sides {
		wg.Go(func() { errs[i] = s.sentinel(ctx, c.Settle) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: sentinel: %w", names[i], err)
		}
	}
	return nil
}

// names of the sides.
var names = [...]string{"reference", "candidate"}

// sentinel makes an object whose owner is absent and waits until it is collected. Where that doesn't happen in
// time there is no collector that anybody would have to wait for.
func (s *side) sentinel(ctx context.Context, patience time.Duration) error {
	if s.idle {
		return nil
	}
	s.sentinels++
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	collected, err := s.session.Sentinel(timed, s.sentinels)
	s.idle = !collected
	if timed.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}
