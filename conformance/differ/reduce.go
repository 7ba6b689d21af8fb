package differ

import (
	"context"
	"fmt"
	"time"

	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
)

// Find generates operations from a seed, runs them, and reduces the first difference. It returns nil if there is none.
func Find(ctx context.Context, c Config, seed uint64, count int) (*Finding, error) {
	ops := model.Generate(seed, count, model.Options{Confluent: true})
	d, err := Run(ctx, c, ops)
	if d == nil || err != nil {
		return nil, err
	}
	f := &Finding{Seed: seed, Ops: ops[:d.Sent], Difference: d}
	return f, f.reduce(ctx, c)
}

// Finding is a difference and how to come to it.
type Finding struct {
	Seed       uint64
	Ops        []model.Op
	Difference *Difference
	prefix     string
}

// Script is the operations as shell commands for each of the servers.
func (f *Finding) Script() string { return drive.Script(f.prefix, f.Ops) }

// reduceFor bounds the reduction.
const reduceFor = 5 * time.Minute

// reduce tries shorter lists for as long as they show a difference, not always the same one.
func (f *Finding) reduce(ctx context.Context, c Config) error {
	prefix, tries := c.Prefix, 0
	f.prefix = prefix + "again-"
	c.Settle = min(c.Settle, 2*time.Second)
	if c.Settle == 0 {
		c.Settle = time.Second
	}
	deadline := time.Now().Add(reduceFor)
	var failed error
	fails := func(ops []model.Op) bool {
		if failed != nil || time.Now().After(deadline) || !confluent(ops) {
			return false
		}
		tries++
		c.Prefix = fmt.Sprintf("%sr%d-", prefix, tries)
		d, err := Run(ctx, c, ops)
		if err != nil {
			failed = err
			return false
		}
		if d != nil {
			f.Difference = d
		}
		return d != nil
	}
	f.Ops = model.Shrink(f.Ops, 400, fails)
	return failed
}

// confluent reports whether a list is still one that Generate might have made.
func confluent(ops []model.Op) bool {
	s := model.State{}
	for _, op := range ops {
		next, _, _ := model.Apply(s, op.Resolve(s))
		if !model.Confluent(next, 3) {
			return false
		}
		s, _ = model.Settle(next, model.First)
	}
	return true
}
