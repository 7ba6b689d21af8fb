package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/authorization/rbac/live"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

const bindings = 1000

// decisions is how many requests RBAC authorizes per second on one core, in this process, with roles and bindings in
// the cache: with bindings of as many users, and then with all bindings for one group. Half of the requests are
// allowed.
func (b *bench) decisions(ctx context.Context) (rows []row, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range []struct {
		what    string
		subject func(i int) string
	}{
		{"users", func(i int) string { return fmt.Sprintf(`{"kind":"User","name":"u%d"}`, i) }},
		{"one group", func(int) string { return `{"kind":"Group","name":"g"}` }},
	} {
		z, err := authorizer(c.subject)
		if err != nil {
			return nil, err
		}
		var rates []float64
		for range b.runs {
			rate, err := authorize(ctx, z)
			if err != nil {
				return nil, err
			}
			rates = append(rates, rate)
		}
		rows = append(
			rows, rowOf(fmt.Sprintf("decisions by RBAC, %d bindings of %s, one core", bindings, c.what), "/s", rates),
		)
	}
	return rows, nil
}

// authorizer has, for each number, a role that allows a request for the object of that number, and its binding.
func authorizer(subject func(i int) string) (*live.Authorizer, error) {
	const root, group = "/registry", `"apiVersion":"rbac.authorization.k8s.io/v1"`
	batch := storage.Batch{Reset: true, Revision: 1}
	add := func(key, value string) {
		batch.Events = append(batch.Events, storage.Event{Key: root + "/" + key, Value: []byte(value), Revision: 1})
	}
	for i := range bindings {
		add(fmt.Sprint("clusterroles/r", i), fmt.Sprintf(`{`+group+`,"kind":"ClusterRole","metadata":{"name":"r%d"},"rules":[
			{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["configmaps","secrets"],"resourceNames":["n%d"]},
			{"verbs":["get","list","watch","create"],"apiGroups":["apps","batch"],"resources":["deployments","jobs"]}]}`, i, i))
		add(fmt.Sprint("rolebindings/n/b", i), fmt.Sprintf(`{`+group+
			`,"kind":"RoleBinding","metadata":{"name":"b%d","namespace":"n"},
			"roleRef":{"kind":"ClusterRole","name":"r%d"},"subjects":[%s]}`, i, i, subject(i)))
	}
	slices.SortFunc(batch.Events, func(a, b storage.Event) int { return cmp.Compare(a.Key, b.Key) })
	c := cache.New(cache.Options{Decoder: storage.Decoder{Root: root}})
	if err := c.Apply(batch); err != nil {
		return nil, err
	}
	return live.New(c, slog.New(slog.DiscardHandler)), nil
}

// authorize returns the number of decisions per second.
func authorize(ctx context.Context, z *live.Authorizer) (float64, error) {
	var requests []*authorization.Attributes
	for i := range bindings {
		u := authorization.User{Name: fmt.Sprint("u", i), Groups: []string{"g", authorization.GroupAuthenticated}}
		for _, verb := range []string{"get", "delete"} {
			requests = append(requests, &authorization.Attributes{
				User: u, Verb: verb, IsResource: true, Version: "v1", Resource: "secrets", Namespace: "n", Name: fmt.Sprint("n", i),
			})
		}
	}
	n, began := 0, time.Now()
	for time.Since(began) < time.Second {
		for _, a := range requests {
			if z.Authorize(a).Allowed() != (a.Verb == "get") {
				return 0, errors.New("a wrong decision")
			}
		}
		if n += len(requests); ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
