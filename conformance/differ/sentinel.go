package differ

import (
	"context"
	"fmt"
	"time"
)

// sentinelEvery is the number of operations between sentinels.
const sentinelEvery = 50

// wholeFor is how long is waited, after a sentinel, for what happened before it.
const wholeFor = 300 * time.Millisecond

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
	if err == nil || timed.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("sentinel: %w", err)
}
