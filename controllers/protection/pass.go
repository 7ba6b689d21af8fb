package protection

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// outcome is the result of a pass over an object: the verdict that was carried out, or an error.
type outcome struct {
	verdict Verdict
	err     error
}

// pass decides about objects of one namespace and carries the verdicts out.
type pass struct {
	api  API
	rule Rule
}

// run returns the outcome for each key. It reads the objects first, then their users, then it writes the finalizers: so
// it misses no user that existed before an object's deletion (F-06). All objects share one read of the users
// (pvcprotection: LazyLivePodList).
func (p *pass) run(ctx context.Context, keys []Key) []outcome {
	outcomes, objects := make([]outcome, len(keys)), make([]Object, len(keys))
	var doomed []Key
	for i, key := range keys {
		objects[i], outcomes[i].err = p.get(ctx, key)
		if objects[i] != nil && dying(objects[i]) {
			doomed = append(doomed, key)
		}
	}
	var users []Object
	var err error
	if len(doomed) > 0 {
		users, err = p.list(ctx, doomed)
	}
	for i, o := range objects {
		switch {
		case o == nil:
		case err != nil && dying(o):
			outcomes[i].err = err
		default:
			outcomes[i] = p.settle(ctx, o, users)
		}
	}
	return outcomes
}

// get returns nil without an error if the object is gone.
func (p *pass) get(ctx context.Context, key Key) (Object, error) {
	o, err := p.api.Get(ctx, p.rule.protects, key)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading: %w", err)
	}
	return o, nil
}

func (p *pass) list(ctx context.Context, keys []Key) ([]Object, error) {
	var all []Object
	for _, kind := range p.rule.users {
		users, err := p.api.Users(ctx, kind, keys)
		if err != nil {
			return nil, fmt.Errorf("listing users of kind %v: %w", kind, err)
		}
		all = append(all, users...)
	}
	return all, nil
}

// settle decides about one object and writes its finalizers. A conflict is an error like others: the users that were
// read may be older than the object's present state.
func (p *pass) settle(ctx context.Context, o Object, users []Object) outcome {
	v := p.rule.decide(o, users)
	if v != Add && v != Remove {
		return outcome{verdict: v}
	}
	o.SetFinalizers(p.rule.finalizers(o, v))
	if err := p.api.Update(ctx, p.rule.protects, o); err != nil && !apierrors.IsNotFound(err) {
		return outcome{err: fmt.Errorf("updating finalizers (%v): %w", v, err)}
	}
	return outcome{verdict: v}
}
