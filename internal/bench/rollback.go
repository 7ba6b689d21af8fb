package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// changedObjects is how many objects are changed before each rollback.
const changedObjects = 1000

// rollbacks is the time of rollbacks after the same number of changes, with more and more objects of 1 KiB, and how
// long the controllers then take to read all of them again.
func (b *bench) rollbacks(ctx context.Context) (rows []row, err error) {
	p, err := b.run(ctx, "--ephemeral")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if _, err = p.firstWrite(ctx); err != nil {
		return nil, err
	}
	t, err := p.target()
	if err != nil {
		return nil, err
	}
	return rows, t.within(ctx, func(t *target) error {
		filled := 0
		for _, n := range []int{10000, 100000} {
			if err := t.grow(ctx, filled, n); err != nil {
				return err
			}
			filled = n
			r, err := t.rolledBack(ctx, n, 10*b.runs)
			if err != nil {
				return err
			}
			rows = append(rows, r...)
		}
		return nil
	})
}

// rolledBack is the figures for one number of objects.
func (t *target) rolledBack(ctx context.Context, n, runs int) ([]row, error) {
	const settled = "/kubecascade/v1/settled"
	if _, err := t.once(ctx, http.MethodGet, settled, "", nil); err != nil {
		return nil, err
	}
	if _, err := t.once(ctx, http.MethodPost, "/kubecascade/v1/checkpoints", "", nil); err != nil {
		return nil, err
	}
	c, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var back, calm []time.Duration
	for run := range runs {
		if err := t.change(ctx, n, run); err != nil {
			return nil, err
		}
		began := time.Now()
		if _, err := c.do(http.MethodPost, "/kubecascade/v1/rollback", "", nil); err != nil {
			return nil, err
		}
		back = append(back, time.Since(began))
		if _, err := t.once(ctx, http.MethodGet, settled, "", nil); err != nil {
			return nil, err
		}
		calm = append(calm, time.Since(began))
	}
	return []row{
		rowOfTimes(fmt.Sprintf("rollback of %d objects among %d", changedObjects, n), back),
		rowOfTimes(fmt.Sprintf("and until the controllers have settled, among %d", n), calm),
	}, nil
}

// rowOfTimes is the row of single operations.
func rowOfTimes(what string, took []time.Duration) row {
	slices.Sort(took)
	values := make([]float64, len(took))
	for i, d := range took {
		values[i] = milliseconds(d)
	}
	r := rowOf(what, "ms", values)
	r.time(timesOf(took))
	return r
}

// change changes half of the objects, deletes a quarter, and creates as many.
func (t *target) change(ctx context.Context, n, run int) error {
	path := t.path("configmaps")
	_, err := t.drive(ctx, 16, changedObjects, func(c *conn, i int) error {
		var err error
		one := fmt.Sprintf("%s/%06d", path, (i*7919+run)%n)
		switch i % 4 {
		case 0:
			_, err = c.do(http.MethodDelete, one, "", nil)
		case 1:
			_, err = c.do(http.MethodPost, path, asJSON, fmt.Appendf(nil, `{"metadata":{"name":"new-%d"}}`, i))
		default:
			_, err = c.do(http.MethodPatch, one, asPatch, fmt.Appendf(nil, `{"data":{"run":"%d"}}`, run))
		}
		return err
	})
	return err
}
