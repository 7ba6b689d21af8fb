package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/filters"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/ui"
)

const (
	// mostStreams is how many streams are open at a time, and mostQuestions how many questions are answered.
	mostStreams, mostQuestions = 32, 2
	// mostBody is the largest body that is passed on, in bytes.
	mostBody = 64 << 10
	// patience is how long a client may leave a message unread, so that none holds a stream for ever.
	patience = 30 * time.Second
)

// Viewer serves the page for a cluster.
type Viewer struct {
	Client *cluster.Client
	// Namespace is read by itself where the user may not list all namespaces.
	Namespace string
	// ReadOnly says that no deletion is passed on.
	ReadOnly bool
	// NoBrowser says that Serve opens no browser.
	NoBrowser bool

	own                bool
	model              *model
	synced             chan struct{}
	begin              chan struct{}
	begun              sync.Once
	streams, questions chan struct{}
}

// Open asks the cluster what it is.
func (v *Viewer) Open(ctx context.Context) error {
	v.model, v.synced, v.begin = newModel(), make(chan struct{}), make(chan struct{})
	v.streams, v.questions = make(chan struct{}, mostStreams), make(chan struct{}, mostQuestions)
	own, err := v.Client.Has(ctx, "graph")
	v.own = own
	return err
}

// Own reports whether the cluster is a kubecascade server, which answers itself.
func (v *Viewer) Own() bool { return v.own }

// Run follows the cluster from the first stream on, until the context is done.
func (v *Viewer) Run(ctx context.Context) {
	select {
	case <-v.begin:
	case <-ctx.Done():
		return
	}
	f := &follower{
		client: v.Client, namespace: v.Namespace, model: v.model, listing: make(chan struct{}, cluster.Concurrency),
		synced: v.synced,
	}
	f.run(ctx)
}

// Handler serves the page and what it asks for.
func (v *Viewer) Handler() (http.Handler, error) {
	target, err := url.Parse(v.Client.URL)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
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
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			fail(w, http.StatusBadGateway, err.Error())
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, ui.Path, http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !v.allows(r) {
			fail(w, http.StatusForbidden, "kubecascade ui does not pass this request on")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		proxy.ServeHTTP(w, r)
	})
	for _, name := range []string{"graph", "tree", "why", "preview", "lint", "trail"} {
		h := v.answers(name)
		if v.own {
			h = proxy.ServeHTTP
		}
		mux.HandleFunc("GET "+questions+name, h)
	}
	return protect(ui.Page(mux)), nil
}

// questions is what the paths of questions begin with.
const questions = "/kubecascade/v1/"

// protect rejects what does not come from the page itself: requests for other names than loopback ones (DNS rebinding),
// and those that a browser marks as another site's, also if they only read.
func protect(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ui.Protect(w.Header())
		switch {
		case !loopback(r.Host) || filters.Foreign(r) || cross.Check(r) != nil:
			fail(w, http.StatusForbidden, "requests of other sites are rejected")
		case r.Method != http.MethodGet && r.Method != http.MethodHead &&
			r.Header.Get("Content-Type") != "application/json":
			fail(w, http.StatusUnsupportedMediaType, "the body must be application/json")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// loopback reports whether a Host header names this machine's loopback interface.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// allows reports whether a request for the API is passed on (doc.go).
func (v *Viewer) allows(r *http.Request) bool {
	if r.URL.RawPath != "" || r.Header.Get("Upgrade") != "" {
		return false
	}
	p := strings.Split(r.URL.Path, "/")
	for _, part := range p[1:] {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	switch {
	case len(p) > 3 && p[1] == "api":
		p = p[3:]
	case len(p) > 4 && p[1] == "apis":
		p = p[4:]
	default:
		return false
	}
	// Below "watch" are upstream's old paths of watches.
	one := (len(p) == 2 || len(p) == 4 && p[0] == "namespaces") && p[0] != "watch"
	events := len(p) == 1 && p[0] == "events" || len(p) == 3 && p[0] == "namespaces" && p[2] == "events"
	q := r.URL.Query()
	switch r.Method {
	case http.MethodGet:
		return one && len(q) == 0 ||
			events && !q.Has("watch") && strings.HasPrefix(q.Get("fieldSelector"), "involvedObject.uid=")
	case http.MethodDelete:
		return one && len(q) == 0 && !v.ReadOnly
	case http.MethodPost:
		return r.URL.Path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" && len(q) == 0
	}
	return false
}

// fail answers a Status.
func fail(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{ // an error means that the client is gone
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Message: message,
		Code: int32(code),
	})
}

// stream serves the graph.
func (v *Viewer) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case v.streams <- struct{}{}:
		defer func() { <-v.streams }()
	default:
		fail(w, http.StatusTooManyRequests, "too many streams of the graph are open")
		return
	}
	v.begun.Do(func() { close(v.begin) })
	select {
	case <-v.synced:
	case <-r.Context().Done():
		return
	case <-time.After(time.Minute):
		v.model.mu.Lock()
		troubles := strings.Join(v.model.troubles(), "; ")
		v.model.mu.Unlock()
		fail(w, http.StatusServiceUnavailable, "the cluster has not been listed yet: "+troubles)
		return
	}
	namespace := r.URL.Query().Get("namespace")
	messages, at := v.model.state(namespace, r.URL.Query().Get("past") == "true")
	if messages == nil {
		fail(w, http.StatusRequestEntityTooLarge, "the graph has too many objects: choose a namespace")
		return
	}
	w.Header().Set("Content-Type", "application/json;stream=lines")
	out := ui.NewWriter(w)
	out.Patience = patience
	_ = v.send(r.Context(), out, messages, at, namespace) // an error means that the client is gone
}

// send sends messages until the client is gone.
func (v *Viewer) send(
	ctx context.Context, out *ui.Writer, messages []ui.Message, at position, namespace string,
) error {
	beat := time.NewTicker(ui.Beat)
	defer beat.Stop()
	for {
		if err := out.Write(messages...); err != nil {
			return err
		}
		messages = nil
		waiting := v.model.waiting()
		changes, next, ok := v.model.after(at, namespace)
		if ok && len(changes) == 0 {
			at = next
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-beat.C:
				v.model.mu.Lock()
				messages = []ui.Message{{Type: ui.MessageBeat, Time: time.Now(), Stale: v.model.troubles()}}
				v.model.mu.Unlock()
			case <-waiting:
				if !wait(ctx, 100*time.Millisecond) { // changes that come fast share a message
					return ctx.Err()
				}
			}
			continue
		}
		if !ok {
			if messages, at = v.model.state(namespace, false); messages == nil {
				return errors.New("too many objects")
			}
			continue
		}
		at = next
		for part := range slices.Chunk(changes, ui.Batch) {
			messages = append(messages, ui.Message{Type: ui.MessageChanges, Time: time.Now(), Changes: part})
		}
	}
}
