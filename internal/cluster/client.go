package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/gc/explain"
)

// Client sends requests to an API server. It is the Source of any cluster: lists and watches of metadata.
type Client struct {
	// URL is the server's, without a slash at the end. HTTP adds the credentials.
	URL  string
	HTTP *http.Client
}

const mediaJSON = "application/json"

// maxAnswer is the maximum size of a response, in bytes: a page of 500 objects with metadata of 1 MiB each is larger,
// but none is known to exist.
const maxAnswer = 256 << 20

// Open sends a request and returns the body of the response, which the caller closes. The errors of responses are
// *apierrors.StatusError, without a reason if the response is no Status.
func (c *Client) Open(req *http.Request) (io.ReadCloser, error) {
	res, err := c.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	defer res.Body.Close()
	var s metav1.Status
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // a part of it is no Status
	if json.Unmarshal(body, &s) != nil || s.Message == "" {
		s = metav1.Status{Message: fmt.Sprintf("%s %s: %s", req.Method, req.URL.Path, res.Status)}
	}
	s.Status, s.Code = metav1.StatusFailure, int32(res.StatusCode)
	return nil, &apierrors.StatusError{ErrStatus: s}
}

// Do sends a request and returns the body of the response. Its errors are those of Open.
func (c *Client) Do(req *http.Request) ([]byte, error) {
	body, err := c.Open(req)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = fmt.Errorf("the response is larger than %d MiB", maxAnswer>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
	}
	return data, nil
}

func (c *Client) get(ctx context.Context, path string, query url.Values, accept string) ([]byte, error) {
	req, err := c.request(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	return c.Do(req)
}

func (c *Client) getJSON(ctx context.Context, path string, query url.Values, into any) error {
	body, err := c.get(ctx, path, query, mediaJSON)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// Own returns a request for one of kubecascade's own paths, relative to render.RoutePrefix.
func (c *Client) Own(ctx context.Context, method, path string, query url.Values) (*http.Request, error) {
	return c.request(ctx, method, render.RoutePrefix+path, query, nil)
}

func (c *Client) request(
	ctx context.Context, method, path string, query url.Values, body []byte,
) (*http.Request, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(body))
}

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

// List implements Source with a list in pages. For one object it sends a GET, or a list with only this object if the
// user may not get it. A list of the metadata of all objects sets the resource's Version. List sends no request for an
// invalid name, which may lead a GET to another path. Owner references may have such names, but no object has one.
func (c *Client) List(ctx context.Context, res *Resource, s Selector, yield func(*explain.Object, []byte)) error {
	if len(path.IsValidPathSegmentName(s.Name))+len(path.IsValidPathSegmentName(s.Namespace)) > 0 {
		return nil
	}
	opts := metav1.ListOptions{LabelSelector: s.Labels, Limit: int64(s.First)}
	if s.Name != "" {
		switch err := c.one(ctx, res, s, yield); code(err) {
		case http.StatusForbidden:
		case http.StatusNotFound:
			return nil
		default:
			return err
		}
		opts.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, s.Name).String()
	}
	version, err := pages(opts, func(opts metav1.ListOptions) (*metav1.ListMeta, error) {
		page, err := c.page(ctx, res, s, opts, yield)
		if s.First > 0 && err == nil {
			page.Continue = ""
		}
		return page, err
	})
	if err == nil && s == (Selector{Namespace: s.Namespace}) {
		res.Version = version
	}
	return err
}

// one gets one object.
func (c *Client) one(ctx context.Context, res *Resource, s Selector, yield func(*explain.Object, []byte)) error {
	if s.Whole {
		var object json.RawMessage
		if err := c.getJSON(ctx, res.path(s.Namespace)+"/"+url.PathEscape(s.Name), nil, &object); err != nil {
			return err
		}
		return yieldWhole(res, object, yield)
	}
	of, err := c.of(res, s.Namespace)
	if err != nil {
		return err
	}
	o, err := of.Get(ctx, s.Name, metav1.GetOptions{})
	if err == nil {
		yield(metadataOf(res.Name(), &o.ObjectMeta), nil)
	}
	return err
}

// page gets a page of a list.
func (c *Client) page(
	ctx context.Context, res *Resource, s Selector, opts metav1.ListOptions, yield func(*explain.Object, []byte),
) (*metav1.ListMeta, error) {
	if s.Whole {
		var page struct {
			metav1.ListMeta `json:"metadata"`
			Items           []json.RawMessage
		}
		err := c.getJSON(ctx, res.path(s.Namespace), url.Values{
			"labelSelector": {opts.LabelSelector}, "fieldSelector": {opts.FieldSelector},
			"limit": {fmt.Sprint(opts.Limit)}, "continue": {opts.Continue},
		}, &page)
		for i := 0; err == nil && i < len(page.Items); i++ {
			err = yieldWhole(res, page.Items[i], yield)
		}
		return &page.ListMeta, err
	}
	of, err := c.of(res, s.Namespace)
	if err != nil {
		return nil, err
	}
	page, err := of.List(ctx, opts)
	if err != nil {
		return nil, err
	}
	name := res.Name()
	for i := range page.Items {
		yield(metadataOf(name, &page.Items[i].ObjectMeta), nil)
	}
	return &page.ListMeta, nil
}

func yieldWhole(res *Resource, object json.RawMessage, yield func(*explain.Object, []byte)) error {
	var m metav1.PartialObjectMetadata
	err := json.Unmarshal(object, &m)
	if err == nil {
		yield(metadataOf(res.Name(), &m.ObjectMeta), object)
	}
	return err
}

// errSamePage reports that a page names itself as the next one.
var errSamePage = errors.New("the server returned the same continue token twice")

// pages gets the pages of a list, and returns the resource version of the first one: a watch from there may repeat what
// later pages have, but leaves nothing out.
func pages(opts metav1.ListOptions, get func(metav1.ListOptions) (*metav1.ListMeta, error)) (version string, _ error) {
	for opts.Limit = cmp.Or(opts.Limit, 500); ; {
		page, err := get(opts)
		var expired *apierrors.StatusError
		if errors.As(err, &expired) && code(err) == http.StatusGone && opts.Continue != "" &&
			expired.ErrStatus.Continue != "" {
			page, err = &expired.ErrStatus.ListMeta, nil // the rest, at a newer revision
		}
		switch {
		case err != nil:
			return "", err
		case opts.Continue == "":
			version = page.ResourceVersion
		case opts.Continue == page.Continue:
			return "", errSamePage
		}
		if opts.Continue = page.Continue; page.Continue == "" {
			return version, nil
		}
	}
}
