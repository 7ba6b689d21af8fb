package main

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// verb is one request for an object, or two.
type verb struct {
	name string
	do   func(ctx context.Context, name string) error
}

// Parts of the verbs' requests.
const (
	oldData = `"k":"created"`
	newData = `"k":"updated"`
	patch   = `{"data":{"k":"patched"}}`
	manager = "?fieldManager=bench"
	// warm is the path of the first request, which opens the connection. Concurrent first requests would open one each.
	warm = "/livez"
)

// verbs returns the requests for objects of a kind, with net/http.
func (c *client) verbs(k kind, namespace string) []verb {
	one := func(name string) string { return k.path(namespace) + "/" + name }
	return []verb{
		{"create", func(ctx context.Context, name string) error {
			return c.create(ctx, k, namespace, name, "k", "created")
		}},
		{"get", func(ctx context.Context, name string) error {
			return c.send(ctx, request{method: "GET", path: one(name)})
		}},
		{"update (get and put)", func(ctx context.Context, name string) error {
			data, err := c.read(ctx, request{method: "GET", path: one(name)})
			if err != nil {
				return err
			}
			body := strings.Replace(string(data), oldData, newData, 1)
			return c.send(ctx, request{method: "PUT", path: one(name), body: body})
		}},
		{"merge patch", func(ctx context.Context, name string) error {
			return c.send(ctx, request{method: "PATCH", path: one(name), media: asMergePatch, body: patch})
		}},
		{"apply", func(ctx context.Context, name string) error {
			body := k.object(name, "applied", "v")
			return c.send(ctx, request{method: "PATCH", path: one(name) + manager, media: asApply, body: body})
		}},
		{"delete", func(ctx context.Context, name string) error {
			return c.send(ctx, request{method: "DELETE", path: one(name)})
		}},
	}
}

// typedVerbs returns the same requests with client-go, which decodes the responses.
func typedVerbs(c *rest.RESTClient, k kind, namespace string) []verb {
	into := func(ctx context.Context, r *rest.Request) (*corev1.ConfigMap, error) {
		var o corev1.ConfigMap
		err := r.Namespace(namespace).Resource(k.plural).Do(ctx).Into(&o)
		return &o, err
	}
	return []verb{
		{"create", func(ctx context.Context, name string) error {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": "created"}}
			_, err := into(ctx, c.Post().Body(o))
			return err
		}},
		{"get", func(ctx context.Context, name string) error {
			_, err := into(ctx, c.Get().Name(name))
			return err
		}},
		{"update (get and put)", func(ctx context.Context, name string) error {
			o, err := into(ctx, c.Get().Name(name))
			if err != nil {
				return err
			}
			o.Data["k"] = "updated"
			_, err = into(ctx, c.Put().Name(name).Body(o))
			return err
		}},
		{"merge patch", func(ctx context.Context, name string) error {
			_, err := into(ctx, c.Patch(types.MergePatchType).Name(name).Body([]byte(patch)))
			return err
		}},
		{"apply", func(ctx context.Context, name string) error {
			body := []byte(k.object(name, "applied", "v"))
			_, err := into(ctx, c.Patch(types.ApplyPatchType).Name(name).Param("fieldManager", "bench").Body(body))
			return err
		}},
		{"delete", func(ctx context.Context, name string) error {
			return c.Delete().Namespace(namespace).Resource(k.plural).Name(name).Do(ctx).Error()
		}},
	}
}

// podVerbs returns requests that create and delete pods in the namespace default. This namespace has the service
// account that pods need.
func podVerbs(c *client, _ string) []verb {
	const path = "/api/v1/namespaces/default/pods"
	return []verb{
		{"create", func(ctx context.Context, name string) error {
			body := `{"metadata":{"name":"` + name + `"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
			return c.send(ctx, request{method: "POST", path: path, body: body})
		}},
		{"delete", func(ctx context.Context, name string) error {
			return c.send(ctx, request{method: "DELETE", path: path + "/" + name})
		}},
	}
}

// verbNames returns the figures of a case that runs verbs.
func verbNames() (names []string) {
	for _, v := range (&client{}).verbs(configMaps, "") {
		names = append(names, v.name)
	}
	return names
}

// verbCases returns the cases that measure each verb with 32 goroutines. Over HTTP/1.1 each has a connection; over
// HTTP/2 they share one.
func verbCases() (cases []workload) {
	for _, k := range []kind{configMaps, widgets} {
		for _, p := range []protocol{http1, http2} {
			cases = append(cases, workload{name: string(p) + ", " + k.String(), figures: verbNames(),
				custom: k.group != "", run: func(ctx context.Context, r *run) error {
					return r.raw(ctx, p, func(c *client, namespace string) []verb { return c.verbs(k, namespace) })
				}})
		}
		cases = append(cases, workload{name: "client-go, " + k.String(), figures: verbNames(), custom: k.group != "",
			run: func(ctx context.Context, r *run) error {
				c, err := k.client(r.server, k.formats[0], false)
				if err != nil {
					return err
				}
				namespace, err := r.namespace(ctx)
				if err != nil {
					return err
				}
				if err := c.Get().AbsPath(warm).Do(ctx).Error(); err != nil {
					return err
				}
				return r.verbs(ctx, typedVerbs(c, k, namespace))
			}})
	}
	return append(cases, workload{name: "HTTP/2, Pod", figures: []string{"create", "delete"},
		run: func(ctx context.Context, r *run) error { return r.raw(ctx, http2, podVerbs) }})
}

// raw measures verbs with a new client in a new namespace.
func (r *run) raw(ctx context.Context, p protocol, of func(c *client, namespace string) []verb) error {
	c, err := r.server.client(p)
	if err != nil {
		return err
	}
	defer c.close()
	namespace, err := r.namespace(ctx)
	if err != nil {
		return err
	}
	if err := c.send(ctx, request{method: "GET", path: warm}); err != nil {
		return err
	}
	return r.verbs(ctx, of(c, namespace))
}

// verbs measures the verbs in order on the same objects. The first verb creates the objects and the last one deletes
// them, so these two always run.
func (r *run) verbs(ctx context.Context, all []verb) error {
	for i, v := range all {
		if i > 0 && i < len(all)-1 && !r.wants(v.name) {
			continue
		}
		if err := r.drive(ctx, v.name, 32, r.bench.size(4000), func(ctx context.Context, i int) error {
			return v.do(ctx, objectName(i))
		}); err != nil {
			return err
		}
	}
	return nil
}
