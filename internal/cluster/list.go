package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/gc/explain"
)

// of returns the client for the metadata of a resource's objects, of one namespace or of all.
func (c *Client) of(res *Resource, namespace string) (metadata.ResourceInterface, error) {
	client, err := metadata.NewForConfigAndClient(&rest.Config{
		Host: c.URL, QPS: -1, WarningHandler: rest.NoWarnings{}, // all resources are listed
	}, c.HTTP)
	if err != nil {
		return nil, err
	}
	gvr := schema.GroupVersionResource{Group: res.Group, Version: res.Versions[0], Resource: res.Plural}
	return client.Resource(gvr).Namespace(namespace), nil
}

// List implements Source: a list in pages, or a GET of one object; a list of it for users who may list objects only.
func (c *Client) List(ctx context.Context, res *Resource, sel Selector) (objects []explain.Object, err error) {
	if sel.Name == "" {
		return c.list(ctx, res, sel.Namespace, metav1.ListOptions{LabelSelector: sel.Labels})
	}
	of, err := c.of(res, sel.Namespace)
	if err != nil {
		return nil, err
	}
	switch o, err := of.Get(ctx, sel.Name, metav1.GetOptions{}); {
	case code(err) == http.StatusNotFound:
		return nil, nil
	case code(err) == http.StatusForbidden:
		return c.list(ctx, res, sel.Namespace, metav1.ListOptions{FieldSelector: "metadata.name=" + sel.Name})
	case err != nil:
		return nil, err
	default:
		return []explain.Object{metadataOf(res, &o.ObjectMeta)}, nil
	}
}

// list reads the objects of a resource page by page. A list of all sets the resource's Version to that of the first page:
// a watch may repeat what later ones have, but leaves nothing out.
func (c *Client) list(
	ctx context.Context, res *Resource, namespace string, opts metav1.ListOptions,
) (objects []explain.Object, err error) {
	of, err := c.of(res, namespace)
	if err != nil {
		return nil, err
	}
	version := ""
	for opts.Limit = 500; ; {
		page, err := of.List(ctx, opts)
		var expired *apierrors.StatusError
		if errors.As(err, &expired) && code(err) == http.StatusGone && opts.Continue != "" &&
			expired.ErrStatus.Continue != "" && expired.ErrStatus.Continue != opts.Continue {
			opts.Continue = expired.ErrStatus.Continue // the rest, at a newer revision
			continue
		}
		if err != nil {
			return nil, err
		}
		if opts.Continue == "" {
			version = page.ResourceVersion
		}
		for i := range page.Items {
			objects = append(objects, metadataOf(res, &page.Items[i].ObjectMeta))
		}
		if page.Continue == "" {
			break
		}
		if page.Continue == opts.Continue {
			return nil, fmt.Errorf("list of %s: %w", res.Name(), errSamePage)
		}
		opts.Continue = page.Continue
	}
	if opts.LabelSelector == "" && opts.FieldSelector == "" {
		res.Version = version
	}
	return objects, nil
}

// errSamePage: a page names itself as the next one.
var errSamePage = errors.New("the server returned the same continue token twice")

// Names returns the names of a resource's objects, of one namespace or of all, at most most.
func (c *Client) Names(ctx context.Context, res *Resource, namespace string, most int) (names []string, err error) {
	of, err := c.of(res, namespace)
	if err != nil {
		return nil, err
	}
	page, err := of.List(ctx, metav1.ListOptions{Limit: int64(most)})
	if err != nil {
		return nil, err
	}
	for i := range page.Items[:min(most, len(page.Items))] { // a server may ignore the limit
		names = append(names, page.Items[i].Name)
	}
	return names, nil
}
