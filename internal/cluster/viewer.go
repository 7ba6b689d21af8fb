package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/ui"
)

// mostForwarded is the largest body that is passed on, in bytes.
const mostForwarded = 64 << 10

// Viewer serves the page of package ui for any cluster.
type Viewer struct {
	Client    *Client
	Namespace string // is read if the user may not list a resource in all namespaces
	ReadOnly  bool   // no deletion is passed on
	NoBrowser bool   // Serve opens no browser
}

// CheckAddress returns an error if an address is not one of the loopback interface, with a port.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not a loopback address", address)
	}
	return nil
}

// Serve serves the page at the address until the context is done, and prints its URL.
func (v *Viewer) Serve(ctx context.Context, address string, out io.Writer) error {
	handler, err := v.open(ctx)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })() // streams end with their context
	page := "http://" + l.Addr().String() + ui.Path
	fmt.Fprintf(out, "the page of %s: %s\n", v.Client.URL, page)
	if !v.NoBrowser {
		openBrowser(page)
	}
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openBrowser opens a page, if there is a program for that. Nothing depends on it.
func openBrowser(page string) {
	command := map[string][]string{
		"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"},
	}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	if c := exec.Command(command[0], append(command[1:], page)...); c.Start() == nil {
		_ = c.Process.Release() // the browser lives longer than the command
	}
}

// open determines whether the server is kubecascade, and returns the handler of the page and of its requests. A
// kubecascade server answers these itself.
func (v *Viewer) open(ctx context.Context) (http.Handler, error) {
	var index struct{ Paths []string }
	err := v.Client.getJSON(ctx, strings.TrimSuffix(render.RoutePrefix, "/"), nil, &index)
	if known(err) != nil {
		return nil, err
	}
	own := slices.Contains(index.Paths, render.RoutePrefix+"graph")
	target, err := url.Parse(v.Client.URL)
	if err != nil {
		return nil, err
	}
	proxy := v.proxy(target)
	mux := http.NewServeMux()
	mux.HandleFunc("/", reject)
	mux.Handle("/{$}", http.RedirectHandler(ui.Path, http.StatusTemporaryRedirect))
	v.forward(mux, proxy)
	service := newService(func(*http.Request) (Source, error) { return v.Client, nil })
	service.Namespace = v.Namespace
	trail := render.Route{Path: "trail", Serve: func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, http.StatusNotFound, errNoTrail.Error())
	}}
	for _, route := range append(service.Routes(), trail) {
		serve := route.Serve
		if own {
			serve = proxy.ServeHTTP
		}
		mux.HandleFunc("GET "+route.Pattern(), serve)
	}
	return protect(ui.Page(mux)), nil
}

// forward passes on the requests for the API that the page needs (doc.go).
func (v *Viewer) forward(mux *http.ServeMux, proxy http.Handler) {
	pass := func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		allowed := len(q) == 0 && r.PathValue("resource") != "watch" // below "watch" are upstream's old paths of watches
		if strings.HasSuffix(r.Pattern, "/events") {
			allowed = !q.Has("watch") && strings.HasPrefix(q.Get("fieldSelector"), "involvedObject.uid=")
		}
		if !allowed || r.URL.RawPath != "" || r.Header.Get("Upgrade") != "" {
			reject(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostForwarded)
		proxy.ServeHTTP(w, r)
	}
	for _, version := range []string{"/api/{version}", "/apis/{group}/{version}"} {
		for _, scope := range []string{version, version + "/namespaces/{namespace}"} {
			mux.HandleFunc("GET "+scope+"/events", pass)
			mux.HandleFunc("GET "+scope+"/{resource}/{name}", pass)
			if !v.ReadOnly {
				mux.HandleFunc("DELETE "+scope+"/{resource}/{name}", pass)
			}
		}
	}
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", pass)
}

// proxy passes requests on with the credentials of the kubeconfig, and none of the browser.
func (v *Viewer) proxy(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Transport: v.Client.HTTP.Transport, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.Host = ""
			accept, content := p.In.Header.Get("Accept"), p.In.Header.Get("Content-Type")
			p.Out.Header = http.Header{"Accept": {accept}, "User-Agent": {"kubecascade-ui"}}
			if content != "" {
				p.Out.Header.Set("Content-Type", content)
			}
		},
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del("Set-Cookie")
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			fail(w, r, http.StatusBadGateway, err.Error())
		},
	}
}

// protect rejects requests that do not come from the page itself: requests for other names than loopback ones (DNS
// rebinding), those that a browser marks as another site's, and changes that are not JSON, as a form of another page
// sends them.
func protect(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ui.Protect(w.Header())
		switch {
		case !render.Loopback(r.Host) || render.Foreign(r) || cross.Check(r) != nil:
			fail(w, r, http.StatusForbidden, "requests of other sites are rejected")
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("Content-Type") != mediaJSON:
			fail(w, r, http.StatusUnsupportedMediaType, "the body must be application/json")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func reject(w http.ResponseWriter, r *http.Request) {
	fail(w, r, http.StatusForbidden, "kubecascade ui does not pass this request on")
}

func fail(w http.ResponseWriter, r *http.Request, code int, message string) {
	render.Status(w, r, code, &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Message: message,
		Code: int32(code),
	})
}
