package main

import (
	"bytes"
	"compress/gzip"
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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// startPlain starts a process of this program that answers as the server did once: a plain handler of HTTP/2, without
// authentication, decoding and encoding. It is the limit of what a server in Go can do. If stores is true, it first
// writes to an etcd in its process: the limit of a server with that storage.
func startPlain(ctx context.Context, of *server, stores bool) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubecascade-clients-")
	if err != nil {
		return nil, err
	}
	s := &server{binary: "plain handler", dir: dir, plain: true, stores: stores}
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

	mu  sync.Mutex // guards all
	all map[string]*response
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
	p := &recorder{url: config.Host, client: client, all: map[string]*response{}}
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
	return strings.Join([]string{method, prefix, r.Header.Get("Accept"), r.Header.Get("Accept-Encoding"),
		q.Get("watch"), q.Get("sendInitialEvents")}, " ")
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
	p.mu.Lock()
	known := p.all[alike(r)]
	p.mu.Unlock()
	if known == nil {
		if known, err = p.first(r, body); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if known.status < 300 {
			p.mu.Lock()
			p.all[alike(r)] = known
			p.mu.Unlock()
		}
	}
	if p.store != nil {
		if err := p.store.write(r, known.body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	known.send(w)
	if isWatch(r) {
		_ = http.NewResponseController(w).Flush() // an error: the client has gone
		<-r.Context().Done()
	}
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
	known, err := p.ask(r, r.Method, p.url+r.URL.RequestURI(), r.Header, body)
	if err != nil || known.status != http.StatusNotFound || !isSingle(r) {
		return known, err
	}
	collection, name := path.Split(r.URL.Path)
	object := fmt.Appendf(nil, `{"metadata":{"name":%q},"data":{"k":"v"}}`, name)
	if strings.Contains(collection, widgets.Resource) {
		object = fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":%q},"data":{"k":"v"}}`,
			name)
	}
	if _, err := p.ask(r, http.MethodPost, p.url+strings.TrimSuffix(collection, "/"),
		http.Header{"Content-Type": {"application/json"}}, object); err != nil {
		return nil, err
	}
	return p.ask(r, r.Method, p.url+r.URL.RequestURI(), r.Header, body)
}

// ask sends a request to the server.
func (p *recorder) ask(r *http.Request, method, url string, header http.Header, body []byte) (*response, error) {
	req, err := http.NewRequestWithContext(r.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if isWatch(r) {
		out, err := initial(r, res)
		return &response{res.StatusCode, res.Header, out}, err
	}
	out, err := io.ReadAll(res.Body)
	return &response{res.StatusCode, res.Header, out}, err
}

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") != "" }

// initial reads the initial events of a watch up to the bookmark that ends them. A watch that doesn't ask for them has
// none.
func initial(r *http.Request, res *http.Response) ([]byte, error) {
	if r.URL.Query().Get("sendInitialEvents") != "true" || res.StatusCode != http.StatusOK {
		return nil, nil
	}
	var all bytes.Buffer
	var events io.Reader = io.TeeReader(res.Body, &all)
	if res.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(events)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.URL, err)
		}
		events = z
	}
	body := io.NopCloser(events)
	frames := json.Framer.NewFrameReader(body)
	if strings.Contains(res.Header.Get("Content-Type"), runtime.ContentTypeProtobuf) {
		frames = protobuf.LengthDelimitedFramer.NewFrameReader(body)
	}
	for event := make([]byte, 1<<20); ; {
		n, err := frames.Read(event)
		if err != nil {
			return nil, fmt.Errorf("%s: initial events: %w", r.URL, err)
		}
		if bytes.Contains(event[:n], []byte(metav1.InitialEventsAnnotationKey)) {
			return all.Bytes(), nil
		}
	}
}
