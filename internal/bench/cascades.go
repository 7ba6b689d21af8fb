package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// cascades deletes an owner with each policy and measures until the last dependent is deleted, or orphaned; then the
// head of a chain, and a namespace.
func (b *bench) cascades(ctx context.Context) (rows []row, err error) {
	return rows, b.serve(ctx, func(t *target) error {
		for _, size := range slices.Compact([]int{1000, b.dependents}) {
			runs := b.runs
			if size > 1000 {
				runs = 1
			}
			for _, policy := range []string{"Background", "Foreground", "Orphan"} {
				what := "delete"
				if policy == "Orphan" {
					what = "update"
				}
				var all []measured
				var limits []float64
				for run := range runs {
					limits = append(limits, b.etcdNow(ctx, what, 64))
					m, err := t.cascade(ctx, policy, fmt.Sprintf("%c%d-%d", policy[0]|0x20, size, run), size)
					if err != nil {
						return err
					}
					all = append(all, m)
				}
				slices.Sort(limits)
				rows = append(rows, rowsOf(fmt.Sprintf("cascade of %d, %s", size, policy), all).limited(limits[len(limits)/2]))
			}
		}
		chain, err := t.chain(ctx, 200)
		if err != nil {
			return err
		}
		namespace, err := t.emptied(ctx, 5000)
		rows = append(
			rows, chain.row("cascade down a chain of 200"),
			namespace.row("namespace of 5000, deleted").limited(b.limit(ctx, etcdRow("delete", 64))),
		)
		return err
	})
}

// metadata is the metadata of objects and lists that the cases need.
type metadata struct {
	Metadata struct {
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

// created creates an object and returns its uid.
func (t *target) created(ctx context.Context, path string, body []byte) (uid string, err error) {
	data, err := t.once(ctx, http.MethodPost, path, asJSON, body)
	if err != nil {
		return "", err
	}
	var o metadata
	err = json.Unmarshal(data, &o)
	return o.Metadata.UID, err
}

// revision is the present resourceVersion of a collection.
func (t *target) revision(ctx context.Context, path string) (string, error) {
	data, err := t.once(ctx, http.MethodGet, path+"?limit=1", "", nil)
	if err != nil {
		return "", err
	}
	var list metadata
	err = json.Unmarshal(data, &list)
	return list.Metadata.ResourceVersion, err
}

// owned is an object with an owner of its kind.
func owned(name, label, owner, uid string) []byte {
	return fmt.Appendf(nil,
		`{"metadata":{"name":%q,"labels":{"cascade":%q},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"blockOwnerDeletion":true}]}}`,
		name, label, owner, uid)
}

func (t *target) cascade(ctx context.Context, policy, id string, n int) (m measured, err error) {
	path := t.path("configmaps")
	uid, err := t.created(ctx, path, fmt.Appendf(nil, `{"metadata":{"name":"owner-%s"}}`, id))
	if err != nil {
		return m, err
	}
	if _, err = t.drive(ctx, 32, n, func(c *conn, i int) error {
		_, err := c.do(http.MethodPost, path, asJSON, owned(fmt.Sprintf("d-%s-%d", id, i), id, "owner-"+id, uid))
		return err
	}); err != nil {
		return m, err
	}
	change := "DELETED"
	if policy == "Orphan" {
		change = "MODIFIED"
	}
	return t.deleted(ctx, path, "&labelSelector=cascade%3D"+id, change, n, path+"/owner-"+id, policy)
}

// deleted deletes an object and measures until a watch of the collection has seen n changes in a selection.
func (t *target) deleted(
	ctx context.Context, collection, selection, change string, n int, path, policy string,
) (m measured, err error) {
	revision, err := t.revision(ctx, collection)
	if err != nil {
		return m, err
	}
	done, err := t.until(ctx, collection+"?watch=1&resourceVersion="+revision+selection, change, n)
	if err != nil {
		return m, err
	}
	before, began := cpuTime(t.pid), time.Now()
	if _, err := t.once(
		ctx, http.MethodDelete, path, asJSON,
		fmt.Appendf(nil, `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":%q}`, policy),
	); err != nil {
		return m, err
	}
	took, err := wait(done, began)
	return measured{rate: float64(n) / took.Seconds(), cpu: (cpuTime(t.pid) - before) / time.Duration(n)}, err
}

// chain deletes the first of n objects each of which owns the next.
func (t *target) chain(ctx context.Context, n int) (m measured, err error) {
	path := t.path("configmaps")
	uid, err := t.created(ctx, path, []byte(`{"metadata":{"name":"chain-0"}}`))
	if err != nil {
		return m, err
	}
	for i := range n {
		if uid, err = t.created(
			ctx, path, owned(fmt.Sprintf("chain-%d", i+1), "chain", fmt.Sprintf("chain-%d", i), uid),
		); err != nil {
			return m, err
		}
	}
	return t.deleted(ctx, path, "&labelSelector=cascade%3Dchain", "DELETED", n, path+"/chain-0", "Background")
}

// emptied deletes a namespace with n objects.
func (t *target) emptied(ctx context.Context, n int) (m measured, err error) {
	other := *t
	other.namespace = t.namespace + "-full"
	if _, err := t.created(
		ctx, "/api/v1/namespaces", fmt.Appendf(nil, `{"metadata":{"name":%q}}`, other.namespace),
	); err != nil {
		return m, err
	}
	if err := other.fill(ctx, "configmaps", n, 10, func(int) string { return "" }); err != nil {
		return m, err
	}
	m, err = t.deleted(
		ctx, "/api/v1/namespaces", "&fieldSelector=metadata.name%3D"+other.namespace, "DELETED", 1,
		"/api/v1/namespaces/"+other.namespace, "Background",
	)
	return measured{rate: m.rate * float64(n), cpu: m.cpu / time.Duration(n)}, err
}
