package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// definitionCase measures the memory of n CustomResourceDefinitions, and the time from the first request until all are
// established.
func definitionCase(n int) workload {
	const installation, eachResident = "installation", "resident, each"
	established := regexp.MustCompile(`"name":"(things\d+\.example\.com)".*"type":"Established","status":"True"`)
	return workload{name: fmt.Sprintf("%d CRDs", n), figures: []string{installation, eachResident},
		run: func(ctx context.Context, r *run) error {
			if err := r.start(ctx); err != nil {
				return err
			}
			before, err := r.idleMemory(ctx)
			if err != nil {
				return err
			}
			c, ready := r.server.admin, map[string]bool{}
			done, err := c.watch(ctx, definitions+"?watch=1", func(event []byte) bool {
				if name := established.FindSubmatch(event); name != nil {
					ready[string(name[1])] = true
				}
				return len(ready) < n
			})
			if err != nil {
				return err
			}
			if _, err := r.until(ctx, installation, n, done, func() error {
				_, err := inParallel(ctx, 16, n, func(ctx context.Context, i int) error {
					return c.send(ctx, request{method: "POST", path: definitions, body: definition(i)})
				})
				return err
			}); err != nil {
				return err
			}
			after, err := r.idleMemory(ctx)
			r.add(eachResident, sample{value: (after - before) * 1024 / float64(n), unit: "KiB"})
			return err
		}}
}

// definition returns a CustomResourceDefinition with nested properties, descriptions, limits and a rule: 8 KB of JSON.
func definition(i int) string {
	var schema strings.Builder
	for i := range 50 {
		fmt.Fprintf(&schema, `,"p%d":{"type":"object","description":"A sentence of the length that descriptions often have.",
			"properties":{"name":{"type":"string","maxLength":63},"n":{"type":"integer"}}}`, i+1)
	}
	return fmt.Sprintf(`{"metadata":{"name":"things%[1]d.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"things%[1]d","kind":"Thing%[1]d"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[
		{"rule":"self.p0 >= 0"}],"properties":{"p0":{"type":"integer","default":0}%[2]s}},
		"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`, i, &schema)
}

// rollbackCase measures rollbacks of changes among n objects of 1 KiB.
func rollbackCase(changes, n int) workload {
	const settled = "until the controllers have settled"
	return workload{name: fmt.Sprintf("rollback of %d changes among %d objects", changes, n), once: true,
		figures: []string{"", settled}, run: func(ctx context.Context, r *run) error {
			namespace, err := r.fresh(ctx, ephemeral)
			if err != nil {
				return err
			}
			c, path := r.server.admin, configMaps.path(namespace)
			if err := configMaps.fill(ctx, c, namespace, n, oneKiB); err != nil {
				return err
			}
			const api = "/kubecascade/v1/"
			for _, q := range []request{{method: "GET", path: api + "settled"}, {method: "POST", path: api + "checkpoints"}} {
				if err := c.send(ctx, q); err != nil {
					return err
				}
			}
			var back, calm []time.Duration
			for range max(r.bench.runs, r.bench.size(30)) {
				if err := change(ctx, c, path, changes, n); err != nil {
					return err
				}
				began := time.Now()
				if err := c.send(ctx, request{method: "POST", path: api + "rollback"}); err != nil {
					return err
				}
				back = append(back, time.Since(began))
				if err := c.send(ctx, request{method: "GET", path: api + "settled"}); err != nil {
					return err
				}
				calm = append(calm, time.Since(began))
			}
			r.add("", durations(back))
			r.add(settled, durations(calm))
			return nil
		}}
}

// change makes a number of changes: it updates half as many objects, deletes a quarter, and creates a quarter.
func change(ctx context.Context, c *client, path string, changes, n int) error {
	_, err := inParallel(ctx, 16, changes, func(ctx context.Context, i int) error {
		one := path + "/" + objectName(i*7919%n)
		switch i % 4 {
		case 0:
			return c.send(ctx, request{method: "DELETE", path: one})
		case 1:
			return c.send(ctx, request{method: "POST", path: path, body: configMaps.object(fmt.Sprintf("new%d", i), "k", "v")})
		}
		return c.send(ctx, request{method: "PATCH", path: one, media: asMergePatch, body: patch})
	})
	return err
}
