package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// lister lists and watches for an informer.
type lister struct {
	*cache.ListWatch
	// lists reports whether the informer lists and then watches. Otherwise it opens a watch with initial events (a
	// watch-list).
	lists bool
}

// IsWatchListSemanticsUnSupported reports to client-go that it must not use a watch-list.
func (l lister) IsWatchListSemanticsUnSupported() bool { return l.lists }

// informer starts an informer, which runs until ctx ends, waits until it has all objects, and returns it.
func informer(
	ctx context.Context, c *rest.RESTClient, k kind, namespace string, lists bool, running *sync.WaitGroup,
) (cache.SharedIndexInformer, error) {
	from := lister{cache.NewListWatchFromClient(c, k.plural, namespace, fields.Everything()), lists}
	i := cache.NewSharedIndexInformer(from, &corev1.ConfigMap{}, 0, nil)
	running.Go(func() { i.RunWithContext(ctx) })
	select {
	case <-i.HasSyncedChecker().Done():
		return i, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// synced runs an informer until it has all objects.
func synced(ctx context.Context, c *rest.RESTClient, k kind, namespace string, lists bool) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	_, err := informer(ctx, c, k, namespace, lists, &running)
	return err
}

// formatNames are the names of the formats of client-go in the table.
var formatNames = map[string]string{asProtobuf: "protobuf", asJSON: "JSON"}

// syncCases returns the cases that measure informers from their start until they have all objects.
func (b *bench) syncCases() (cases []workload) {
	for _, k := range []kind{configMaps, widgets} {
		for _, n := range b.sizes()[2:] {
			for _, format := range k.formats {
				for _, way := range []string{"list and watch", "watch-list"} {
					name := fmt.Sprintf("informer of %d, %s, %s, %s", n, k, formatNames[format], way)
					cases = append(cases, workload{name: name, custom: k.group != "",
						run: func(ctx context.Context, r *run) error {
							c, err := k.client(r.server, format, false)
							if err != nil {
								return err
							}
							times := r.bench.size(min(50_000/n, 20))
							return r.drive(ctx, "", 1, times, func(ctx context.Context, _ int) error {
								return synced(ctx, c, k, sized(n), way == "list and watch")
							})
						}})
				}
			}
		}
	}
	return cases
}

// crowd is the number of clients that start or resume at once.
const crowd = 100

// crowdCases returns the cases of clients that start or resume at once, each with its own connection.
func (b *bench) crowdCases() (cases []workload) {
	n := b.sizes()[2]
	for _, k := range []kind{configMaps, widgets} {
		cases = append(cases, workload{name: fmt.Sprintf("%d informers of %d start at once, %s", crowd, n, k),
			custom: k.group != "", run: func(ctx context.Context, r *run) error {
				return r.drive(ctx, "", crowd, crowd, func(ctx context.Context, _ int) error {
					c, err := k.client(r.server, k.formats[0], true)
					if err != nil {
						return err
					}
					return synced(ctx, c, k, sized(n), false)
				})
			}}, workload{name: fmt.Sprintf("%d watches resume with 100 events at once, %s", crowd, k),
			custom: k.group != "", run: func(ctx context.Context, r *run) error { return r.resume(ctx, k, sized(n)) }})
	}
	return cases
}

// resume measures the time until watches have received the events that they have missed.
func (r *run) resume(ctx context.Context, k kind, namespace string) error {
	const missed = 100
	path := k.path(namespace)
	revision, err := r.server.admin.revision(ctx, path)
	if err != nil {
		return err
	}
	for i := range missed {
		body := fmt.Sprintf(`{"data":{"k":%q}}`, random(int(time.Now().UnixNano()), 1024))
		one := path + "/" + objectName(i%r.bench.sizes()[2])
		if err := r.server.admin.send(ctx, request{method: "PATCH", path: one, media: asMergePatch, body: body}); err != nil {
			return err
		}
	}
	return r.drive(ctx, "", crowd, crowd, func(ctx context.Context, _ int) error {
		c, err := r.server.client(http2)
		if err != nil {
			return err
		}
		defer c.close()
		done, err := c.count(ctx, path+"?watch=1&resourceVersion="+revision, "MODIFIED", missed)
		if err != nil {
			return err
		}
		return <-done
	})
}
