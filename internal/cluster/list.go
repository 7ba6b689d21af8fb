package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// errNoPage: a page names no next one, or the same again.
var errNoPage = errors.New("the server returned the same continue token twice")

// List implements Source: a list in pages, or a GET of one object.
func (c *Client) List(ctx context.Context, res *Resource, sel Selector) (objects []explain.Object, err error) {
	if sel.Name != "" {
		var o metav1.PartialObjectMetadata
		switch err := c.getJSON(ctx, res.Path(sel.Namespace)+"/"+url.PathEscape(sel.Name), nil, &o); {
		case code(err) == http.StatusNotFound:
			return nil, nil
		case err != nil:
			return nil, err
		}
		return []explain.Object{metadataOf(res, &o.ObjectMeta)}, nil
	}
	var query url.Values
	if sel.Labels != "" {
		query = url.Values{"labelSelector": {sel.Labels}}
	}
	return c.list(ctx, res, sel.Namespace, query)
}

func (c *Client) list(
	ctx context.Context, res *Resource, namespace string, query url.Values,
) (objects []explain.Object, err error) {
	version, err := c.pages(ctx, res, namespace, query, func(m *metav1.ObjectMeta) {
		objects = append(objects, metadataOf(res, m))
	})
	if len(query) == 0 {
		res.Version = version
	}
	return objects, err
}

// pages calls yield with the metadata of a resource's objects, of one namespace or of all, page by page. It returns the
// list's resource version, from which a watch goes on.
func (c *Client) pages(
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
		var expired *apierrors.StatusError
		if errors.As(err, &expired) && code(err) == http.StatusGone && !slices.Contains([]string{"", token},
			expired.ErrStatus.Continue) {
			token = expired.ErrStatus.Continue // the rest, at a newer revision
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

// Names returns the names of a resource's objects, of one namespace or of all, at most most.
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

// metadataOnly asks for metadata, in protobuf if possible. A server that knows neither form returns whole objects.
const metadataOnly = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// magic begins objects in protobuf.
var magic = []byte{'k', '8', 's', 0}

// decode decodes a page of a list.
func decode(media string, body []byte) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	if !is(media, "application/vnd.kubernetes.protobuf", "") {
		return list, json.Unmarshal(body, list)
	}
	data, ok := bytes.CutPrefix(body, magic)
	if !ok {
		return nil, errors.New("the response is not Kubernetes' protobuf")
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(data); err != nil {
		return nil, fmt.Errorf("protobuf: %w", err)
	}
	if err := list.Unmarshal(unknown.Raw); err != nil {
		return nil, fmt.Errorf("protobuf: %w", err)
	}
	return list, nil
}
