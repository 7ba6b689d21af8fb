package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// nodesCase measures simulated pods in ten namespaces: the time until all are Running, the idle server, and the time
// until the namespaces are gone.
func nodesCase(nodes, deployments, pods int) workload {
	const rollout, slowest, deletion, spaces = "rollout", "rollout, slowest 10 s", "deletion", 10
	n := spaces * deployments * pods
	return workload{name: fmt.Sprintf("%d simulated nodes, %d pods", nodes, n), once: n > 10_000,
		figures: []string{rollout, slowest, idleShare, idleResident, deletion},
		run: func(ctx context.Context, r *run) error {
			file := filepath.Join(os.TempDir(), fmt.Sprintf("kubecascade-bench-%d.yaml", os.Getpid()))
			defer os.Remove(file)
			if err := errors.Join(os.WriteFile(file, []byte(nodesText(nodes, n)), 0o600),
				r.start(ctx, "--simulate-pods", "--simulate-nodes="+file), r.wait(ctx, 10*time.Second)); err != nil {
				return err
			}
			c, total, tens, began := r.server.admin, 0, []int{0}, time.Now()
			const running = "/api/v1/pods?watch=1&fieldSelector=status.phase%3DRunning"
			done, watched := c.watch(ctx, running, func(event []byte) bool {
				if bytes.HasPrefix(event, []byte(`{"type":"ADDED"`)) {
					total++
				}
				for len(tens) <= int(time.Since(began)/(10*time.Second)) {
					tens = append(tens, total)
				}
				return total < n
			})
			gone, watched2 := c.count(ctx, namespaces+"?watch=1", "DELETED", spaces)
			if err := errors.Join(watched, watched2); err != nil {
				return err
			}
			inAll := func(each func(ctx context.Context, i int) error) error {
				_, err := inParallel(ctx, spaces, spaces, each)
				return err
			}
			_, rolled := r.until(ctx, rollout, n, done, func() error {
				return inAll(func(ctx context.Context, i int) error { return deploy(ctx, c, i, deployments, pods) })
			})
			least := n
			for i := range tens[1:] {
				least = min(least, tens[i+1]-tens[i])
			}
			r.add(slowest, sample{value: float64(least) / 10, unit: "/s"})
			rested := r.atRest(ctx)
			_, deleted := r.until(ctx, deletion, n, gone, func() error {
				return inAll(func(ctx context.Context, i int) error {
					return c.send(ctx, request{method: "DELETE", path: fmt.Sprintf("%s/pods%d", namespaces, i)})
				})
			})
			return errors.Join(rolled, rested, deleted)
		}}
}

// nodesText returns a file for --simulate-nodes with enough capacity for the pods.
func nodesText(nodes, pods int) string {
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, "{apiVersion: v1, kind: Node, metadata: {name: n%d}, status: {capacity: {cpu: %d, pods: %d}}}\n---\n",
			i, max(64, pods/nodes), max(110, pods/nodes))
	}
	return b.String()
}

// deploy creates a namespace with Deployments.
func deploy(ctx context.Context, c *client, namespace, deployments, pods int) error {
	path, body := namespaces, fmt.Sprintf(`{"metadata":{"name":"pods%d"}}`, namespace)
	for i := range deployments + 1 {
		if err := c.send(ctx, request{method: "POST", path: path, body: body}); err != nil {
			return err
		}
		path = fmt.Sprintf("/apis/apps/v1/namespaces/pods%d/deployments", namespace)
		body = fmt.Sprintf(`{"metadata":{"name":"d%[1]d-%[2]d"},"spec":{"replicas":%[3]d,"selector":{"matchLabels":{"app":"d%[2]d"}},
			"template":{"metadata":{"labels":{"app":"d%[2]d"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}}`,
			namespace, i, pods)
	}
	return nil
}
