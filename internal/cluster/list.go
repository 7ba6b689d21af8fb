package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// errNoPage: a page names no next one, or the same again.
var errNoPage = errors.New("the server returned the same continue token twice")

// List lists the metadata of a resource's objects, of one namespace or of all.
func (c *Client) List(
	ctx context.Context, res *Resource, namespace string, query url.Values,
) (objects []explain.Object, err error) {
	_, err = c.Pages(ctx, res, namespace, query, func(m *metav1.ObjectMeta) { objects = append(objects, object(res, m)) })
	if err != nil {
		return nil, err
	}
	return objects, nil
}

// Pages calls yield with the metadata of a resource's objects, of one namespace or of all, page by page. It returns the
// list's resource version, from which a watch goes on.
func (c *Client) Pages(
	ctx context.Context, res *Resource, namespace string, query url.Values, yield func(*metav1.ObjectMeta),
) (version string, err error) {
	q := url.Values{"limit": {"500"}}
	for k, v := range query {
		q[k] = v
	}
	for token := ""; ; {
		q.Del("continue")
		if token != "" {
			q.Set("continue", token)
		}
		media, body, err := c.get(ctx, res.Path(namespace), q, metadataOnly)
		var expired *statusError
		if errors.As(err, &expired) && expired.code == http.StatusGone && expired.next != "" && expired.next != token {
			token = expired.next // the rest, at a newer revision
			continue
		}
		if err != nil {
			return "", err
		}
		page, err := decode(media, body)
		if err != nil {
			return "", fmt.Errorf("GET %s: %w", res.Path(namespace), err)
		}
		if version == "" { // that of the first page: a watch may repeat what later ones have, but leaves nothing out
			version = page.ResourceVersion
		}
		for i := range page.Items {
			yield(&page.Items[i].ObjectMeta)
		}
		switch {
		case page.Continue == "":
			return version, nil
		case page.Continue == token:
			return "", fmt.Errorf("GET %s: %w", res.Path(namespace), errNoPage)
		}
		token = page.Continue
	}
}

// Names returns the names of a resource's objects, of one namespace or of all, and at most so many.
func (c *Client) Names(ctx context.Context, res *Resource, namespace string, most int) (names []string, err error) {
	media, body, err := c.get(ctx, res.Path(namespace), url.Values{"limit": {strconv.Itoa(most)}}, metadataOnly)
	if err != nil {
		return nil, err
	}
	page, err := decode(media, body)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", res.Path(namespace), err)
	}
	for i := range page.Items[:min(most, len(page.Items))] { // a server may ignore the limit
		names = append(names, page.Items[i].Name)
	}
	return names, nil
}

// object keeps what explain needs.
func object(res *Resource, m *metav1.ObjectMeta) explain.Object {
	o := explain.Object{
		Key: graph.Key{Collection: res.Name(), Namespace: m.Namespace, Name: m.Name}, UID: string(m.UID),
		Finalizers: m.Finalizers, GraceSeconds: m.DeletionGracePeriodSeconds, Labels: m.Labels,
	}
	if m.DeletionTimestamp != nil {
		o.Deletion = m.DeletionTimestamp.Time
	}
	for _, r := range m.OwnerReferences {
		o.Owners = append(o.Owners, graph.Owner{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: string(r.UID),
			Block: r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion,
		})
		if r.Controller != nil && *r.Controller {
			o.Controller = string(r.UID)
		}
	}
	if len(m.Finalizers) > 0 {
		o.Setters = Setters(m.ManagedFields)
	}
	return o
}

// Setters tells from managedFields which managers set the finalizers: "f:finalizers": {"v:\"NAME\"": {}}.
func Setters(managedFields []metav1.ManagedFieldsEntry) map[string]string {
	found := map[string]string{}
	for _, f := range managedFields {
		if f.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata struct {
				Finalizers map[string]json.RawMessage `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(f.FieldsV1.Raw, &fields) != nil { // another format: it tells nothing
			continue
		}
		for name := range fields.Metadata.Finalizers {
			var value string
			if quoted, ok := strings.CutPrefix(name, "v:"); ok && json.Unmarshal([]byte(quoted), &value) == nil {
				found[value] = f.Manager
			}
		}
	}
	return found
}
