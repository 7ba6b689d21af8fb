package workload

import (
	"context"
	"reflect"

	"golang.org/x/sync/errgroup"
)

// inFlight is the maximum number of concurrent requests of one pass.
const inFlight = 32

// do executes actions, stage by stage, and returns the first failure.
func (e *engine) do(ctx context.Context, v View, actions []Action) *Failure {
	for len(actions) > 0 {
		n := stage(actions)
		batch := n
		if _, ok := actions[0].(Create); ok {
			batch = 1
		}
		for rest := actions[:n]; len(rest) > 0; batch *= 2 {
			now := rest[:min(batch, len(rest))]
			rest = rest[len(now):]
			f, quit := e.together(ctx, v, now)
			if f != nil {
				return f
			}
			if quit {
				break
			}
		}
		actions = actions[n:]
	}
	return nil
}

// stage returns the number of actions at the beginning that are of one type.
func stage(actions []Action) int {
	first := reflect.TypeOf(actions[0])
	for i, a := range actions {
		if reflect.TypeOf(a) != first {
			return i
		}
	}
	return len(actions)
}

// together executes actions concurrently, and returns the failure of the first of them that failed.
func (e *engine) together(ctx context.Context, v View, actions []Action) (first *Failure, quit bool) {
	if len(actions) == 1 {
		return e.request(ctx, v, actions[0])
	}
	failures, quits := make([]*Failure, len(actions)), make([]bool, len(actions))
	var requests errgroup.Group
	requests.SetLimit(inFlight)
	for i, a := range actions {
		requests.Go(func() error {
			failures[i], quits[i] = e.request(ctx, v, a)
			return nil
		})
	}
	_ = requests.Wait() // the failures are in the list
	for i, f := range failures {
		if first == nil && f != nil {
			first = f
		}
		quit = quit || quits[i]
	}
	return first, quit
}
