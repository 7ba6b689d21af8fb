package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// scales has one ReplicaSet create as many pods as the load cases create objects, and delete them again, and measures
// until a watcher has seen all of them.
func (b *bench) scales(ctx context.Context) (rows []row, err error) {
	return rows, b.serve(ctx, func(t *target) error {
		const set = `{"metadata":{"name":"scaled"},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"scaled"}},
			"template":{"metadata":{"labels":{"app":"scaled"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
		sets := "/apis/apps/v1/namespaces/" + t.namespace + "/replicasets"
		if _, err := t.once(ctx, http.MethodPost, sets, asJSON, []byte(set)); err != nil {
			return err
		}
		var up, down []float64
		for range b.runs {
			for _, to := range []int{b.objects, 0} {
				took, err := b.scale(ctx, t, sets+"/scaled", to)
				if err != nil {
					return err
				}
				rate := float64(b.objects) / took.Seconds()
				if to == 0 {
					down = append(down, rate)
				} else {
					up = append(up, rate)
				}
			}
		}
		rows = append(rows, rowOf(fmt.Sprintf("ReplicaSet from 0 to %d pods", b.objects), "/s", up),
			rowOf(fmt.Sprintf("ReplicaSet from %d to 0 pods", b.objects), "/s", down))
		return nil
	})
}

// scale changes the number of replicas and returns how long the pods took.
func (b *bench) scale(ctx context.Context, t *target, set string, to int) (time.Duration, error) {
	pods := t.path("pods")
	revision, err := t.revision(ctx, pods)
	if err != nil {
		return 0, err
	}
	change := "ADDED"
	if to == 0 {
		change = "DELETED"
	}
	done, err := t.until(ctx, pods+"?watch=1&resourceVersion="+revision, change, b.objects)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := t.once(
		ctx, http.MethodPatch, set, asPatch, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, to),
	); err != nil {
		return 0, err
	}
	return wait(done, began)
}
