package endpoints

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/proxy"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// connects reports whether a request is for a subresource that is forwarded. A proxied subresource has any verb. Legacy
// watch paths are not forwarded, because they are authorized as watches.
func connects(t registry.Target, verb string) bool {
	return !t.Watch && t.Subresource != nil && t.Subresource.Action.Connects() &&
		(t.Subresource.Has(verb) || t.Subresource.Action == resources.Proxied)
}

// connect admits a connection (L-21, O-06; AS pkg/endpoints/handlers/rest.go: ConnectResource), and forwards it. A GET
// of a log is not admitted.
func (a *API) connect(req *request) error {
	logged := req.Subresource.Action == resources.Logged
	if !logged && requestinfo.Query(req.r).Get("dryRun") != "" { // B-70
		return status.BadRequest("dryRun is not supported")
	}
	kind := req.Subresource.Kind
	if !req.Subresource.Options.Empty() {
		kind = req.Subresource.Options
	}
	options, err := resources.Scheme().New(kind)
	if err == nil {
		err = requestinfo.DecodeConnect(req.connectQuery(), options)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(req.r.Context())
	defer cancel()
	if !logged {
		if err := a.Registry.Admitted(ctx, &req.Request, options); err != nil {
			return err
		}
	}
	if err := a.mayUpgrade(req); err != nil {
		return err
	}
	backend, err := a.Registry.Backend(ctx, req.Target, options, a.Kubelets)
	if err != nil {
		return err
	}
	go func() {
		defer cancel()
		select {
		case <-a.watches.closing:
		case <-ctx.Done():
		}
	}()
	open := a.Metrics.Open(labelOf(req.Target, req.verb))
	open.Inc()
	defer open.Dec()
	req.r = req.r.WithContext(ctx)
	render.Warnings(req.w.Header(), req.Warn.Sent())
	if logged {
		return a.forwardLog(req, options, backend)
	}
	return a.forward(req, backend)
}

// mayUpgrade returns an error for an upgrade without the permission to create: a WebSocket is opened by a GET (K
// pkg/registry/core/pod/rest/authorize.go: ensureAuthorizedForVerb).
func (a *API) mayUpgrade(req *request) error {
	if req.Subresource.Action != resources.Upgraded || req.info.Verb == "create" {
		return nil
	}
	if d := a.Registry.Authorizer.Authorize(req.info.AttributesAs("create")); !d.Allowed() {
		return apierrors.NewForbidden(req.Resource.GroupResource(), req.Name, errors.New(d.Reason()))
	}
	return nil
}

// forward forwards a request that is upgraded or proxied. The body of a proxied request is a stream without limits.
func (a *API) forward(req *request, to *resources.Backend) error {
	if to.Public {
		if err := a.Proxy.Public(req.r.Context(), to.URL.Hostname()); err != nil {
			return err
		}
	}
	fail := func(w http.ResponseWriter, r *http.Request, err error) { render.Error(a.Log, w, r, err) }
	t := &proxy.Target{URL: to.URL, Transport: a.Proxy.Network, Fail: fail}
	if to.Kubelet {
		t.Transport = a.Proxy.Kubelets
	}
	if req.Subresource.Action == resources.Upgraded {
		t.UpgradeRequired = true
		proxy.Upgrade(req.w, req.r, t, to.Sockets)
		return nil
	}
	t.Rewrite, t.URL.Path = true, req.proxiedPath()
	if strings.HasSuffix(t.URL.Path, "/") && !strings.HasSuffix(req.r.URL.Path, "/") {
		u := *req.r.URL
		u.Path += "/"
		req.r.URL = &u
	}
	proxy.Forward(req.w, req.r, t)
	return nil
}

// forwardLog responds with the log of a container.
func (a *API) forwardLog(req *request, options runtime.Object, from *resources.Backend) error {
	if from.Log != nil {
		return a.simulatedLog(req, options, from)
	}
	if from.URL == nil {
		req.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	transport := a.Proxy.Kubelets
	if from.Insecure {
		transport = a.Proxy.Insecure
	}
	of := req.Resource.GroupResource()
	of.Resource += "/" + req.Subresource.Name
	return proxy.Log(req.w, req.r, from.URL, transport, of, req.Name)
}

// simulatedLog responds with the log of a simulated pod. With follow, the response ends when the pod has ended.
func (a *API) simulatedLog(req *request, options runtime.Object, from *resources.Backend) error {
	var log io.Reader = strings.NewReader(from.Log.Text)
	if from.Follow {
		w, err := a.Registry.Cache.Watch(req.Resource.Collection, a.Registry.Cache.Revision())
		if err != nil {
			return err
		}
		log = io.MultiReader(log, ending(func() { a.awaitEnd(req, options, w) }))
	}
	proxy.SendLog(req.w, req.r, log)
	return nil
}

// ending is an empty reader. It ends when the function returns.
type ending func()

func (e ending) Read([]byte) (int, error) { e(); return 0, io.EOF }

// awaitEnd returns when the pod of a simulated log has ended or was deleted, or when the request has ended.
func (a *API) awaitEnd(req *request, options runtime.Object, w *cache.Watcher) {
	key, ctx := req.Key(a.Registry.Root), req.r.Context()
	for {
		b, err := a.Registry.Backend(ctx, req.Target, options, a.Kubelets)
		if err != nil || b.Log == nil || b.Log.Ended {
			return
		}
		for changed := false; !changed; {
			events, _, err := w.Next(ctx)
			if err != nil {
				return
			}
			for _, e := range events {
				if e.Object.Key != key {
					continue
				}
				if changed = true; e.Type == cache.Deleted {
					return
				}
			}
		}
	}
}

// proxiedPath returns the rest of the path after the subresource. It ends with a slash if the client's path does (AS
// pkg/endpoints/handlers/get.go: getRequestOptions).
func (req *request) proxiedPath() string {
	path := req.Rest
	if path != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	original, _, _ := strings.Cut(req.r.RequestURI, "?") // the filters have removed slashes from the end of URL.Path
	if strings.HasSuffix(original, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}

// connectQuery returns the query of a connection. For a proxied request, it sets the parameter path to the rest of the
// path.
func (req *request) connectQuery() url.Values {
	query := requestinfo.Query(req.r)
	if req.Subresource.Action != resources.Proxied {
		return query
	}
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	query["path"] = []string{req.proxiedPath()}
	return query
}
