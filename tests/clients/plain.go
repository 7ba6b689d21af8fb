package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// startPlain starts a process of this program that answers as the server did once: a plain handler of HTTP/2, without
// authentication, decoding and encoding. It shows what net/http and the machine allow. If stores is true, it first
// writes to an etcd in its process, which such a server needs, too.
func startPlain(ctx context.Context, of *server, stores bool) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubecascade-clients-")
	if err != nil {
		return nil, err
	}
	s := &server{binary: "plain handler", dir: dir, of: of, stores: stores}
	c := exec.CommandContext(ctx, self, "-recorded", of.kubeconfig)
	if stores {
		s.binary = "plain handler with etcd"
		c.Args = append(c.Args, "-store", filepath.Join(dir, "etcd"))
	}
	c.Env = append(os.Environ(), "TMPDIR="+dir)
	return s, s.run(c)
}

// response is a recorded response.
type response struct {
	status int
	header http.Header
	body   []byte
}

// recorder answers requests: the first one of a kind with the server's response, and later ones with the same.
type recorder struct {
	url    string
	client *http.Client
	// store is where writes are stored; nil for nowhere.
	store *store

	passing sync.Mutex // is held while the server is asked, so that clients that start at once ask it once
	mu      sync.Mutex // guards all and feeds, which are by what alike returns
	all     map[string]*response
	feeds   map[string]*feed
}

// replay serves recorded responses until it is interrupted. dir is where it stores writes; empty for nowhere.
func replay(kubeconfig, dir string) (err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.DisableCompression = true // the responses are passed on as they are
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	p := &recorder{url: config.Host, client: client, all: map[string]*response{}, feeds: map[string]*feed{}}
	if dir != "" {
		if p.store, err = openStore(dir); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.store.close()) }()
	}
	s := httptest.NewUnstartedServer(p)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	own := clientcmdapi.NewConfig()
	own.Clusters[""] = &clientcmdapi.Cluster{Server: s.URL, CertificateAuthorityData: pem.EncodeToMemory(
		&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})}
	own.Contexts[""] = &clientcmdapi.Context{}
	file := filepath.Join(os.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*own, file); err != nil {
		return err
	}
	fmt.Printf("ready in 0 ms: %s, kubeconfig %s\n", s.URL, file)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	return nil
}

// alike is what requests have in common that get the same response: all single objects of a collection do. An update
// gets the response to a get, as that is the object, too, and has a revision that an update would have to name.
func alike(r *http.Request) string {
	prefix, method := r.URL.Path, r.Method
	if isSingle(r) {
		prefix, _ = path.Split(prefix)
	}
	if method == http.MethodPut {
		method = http.MethodGet
	}
	q := r.URL.Query()
	from := ""
	if isWatch(r) {
		from = q.Get("resourceVersion")
	}
	return strings.Join([]string{method, prefix, r.Header.Get("Accept"), r.Header.Get("Accept-Encoding"),
		q.Get("watch"), q.Get("sendInitialEvents"), from}, " ")
}

// isSingle reports whether the request is for one object of the cases.
func isSingle(r *http.Request) bool {
	parts := strings.Split(r.URL.Path, "/")
	if len(parts) < 3 {
		return false
	}
	of := parts[len(parts)-2]
	return of == configMaps.Resource || of == widgets.Resource
}

// ServeHTTP implements http.Handler.
func (p *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	known, err := p.answer(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if p.store != nil {
		err = p.store.write(r, known.body)
	}
	if err == nil && r.Method == http.MethodPost && bytes.Contains(body, []byte(sentMark)) {
		err = p.publish(r, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !isWatch(r) {
		known.send(w)
		return
	}
	l, leave := p.feed(r).join()
	defer leave()
	known.send(w)
	l.forward(r.Context(), w)
}

// answer returns the response to a request. It waits until an equal one has been passed on.
func (p *recorder) answer(r *http.Request, body []byte) (*response, error) {
	if known := p.known(r); known != nil {
		return known, nil
	}
	p.passing.Lock()
	defer p.passing.Unlock()
	if known := p.known(r); known != nil {
		return known, nil
	}
	known, err := p.first(r, body)
	if err == nil && known.status < 300 {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.all[alike(r)] = known
	}
	return known, err
}

func (p *recorder) known(r *http.Request) *response {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[alike(r)]
}

// feed returns the feed of a watch.
func (p *recorder) feed(r *http.Request) *feed {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.feeds[alike(r)]
	if f == nil {
		f = &feed{uri: r.URL.RequestURI(), header: r.Header}
		p.feeds[alike(r)] = f
	}
	return f
}

// publish sends the event of a write to the watches of its collection that began with initial events.
func (p *recorder) publish(r *http.Request, body []byte) error {
	p.mu.Lock()
	var feeds []*feed
	for _, f := range p.feeds {
		if at, query, _ := strings.Cut(f.uri, "?"); at == r.URL.Path && strings.Contains(query, initialEvents) {
			feeds = append(feeds, f)
		}
	}
	p.mu.Unlock()
	for _, f := range feeds {
		if err := f.publish(p, r, body); err != nil {
			return err
		}
	}
	return nil
}

// send answers with the response.
func (known *response) send(w http.ResponseWriter) {
	for k, v := range known.header {
		w.Header()[k] = v
	}
	w.WriteHeader(known.status)
	_, _ = w.Write(known.body) // errors: the client has gone
}

// first gets the server's response. The object may exist here alone, as only the first creation was passed on.
func (p *recorder) first(r *http.Request, body []byte) (*response, error) {
	known, err := p.ask(r, r.Method, r.URL.RequestURI(), r.Header, body)
	if err != nil || known.status != http.StatusNotFound || !isSingle(r) {
		return known, err
	}
	collection, name := path.Split(r.URL.Path)
	object := fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"k":"v"}}`, name)
	if strings.Contains(collection, widgets.Resource) {
		object = fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q},"data":{"k":"v"}}`,
			name)
	}
	if _, err := p.ask(r, http.MethodPost, strings.TrimSuffix(collection, "/"),
		http.Header{"Content-Type": {"application/json"}}, object); err != nil {
		return nil, err
	}
	return p.ask(r, r.Method, r.URL.RequestURI(), r.Header, body)
}

// pass sends a request to the server.
func (p *recorder) pass(
	ctx context.Context, method, uri string, header http.Header, body []byte,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.url+uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	return p.client.Do(req)
}

// ask sends a request to the server, for the request r, and reads the response: of a watch its initial events, or the
// events that it has missed.
func (p *recorder) ask(r *http.Request, method, uri string, header http.Header, body []byte) (*response, error) {
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	res, err := p.pass(ctx, method, uri, header, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	known := &response{status: res.StatusCode, header: res.Header}
	switch {
	case !isWatch(r) || res.StatusCode != http.StatusOK:
		known.body, err = io.ReadAll(res.Body)
	case strings.Contains(r.URL.RawQuery, initialEvents):
		s, err := newStream(res)
		if err == nil {
			err = s.pass()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.URL, err)
		}
		known.body = s.raw.Bytes()
	default:
		known.body = untilPause(res.Body, stop)
	}
	return known, err
}

// untilPause reads what comes without a pause. No bookmark ends the events that a watch has missed.
func untilPause(from io.Reader, stop func()) []byte {
	const pause = 200 * time.Millisecond
	t := time.AfterFunc(pause, stop)
	var all bytes.Buffer
	for b := make([]byte, 32<<10); ; t.Reset(pause) {
		n, err := from.Read(b)
		all.Write(b[:n])
		if err != nil {
			return all.Bytes()
		}
	}
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }

// initialEvents is in the query of a watch that asks for them.
const initialEvents = "sendInitialEvents=true"
