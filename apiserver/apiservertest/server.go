package apiservertest

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// Options change the server. nil and zero fields are the defaults.
type Options struct {
	// Configure changes the server's configuration before the server is created.
	Configure func(*apiserver.Config)
	// Handler wraps the handler of the server.
	Handler func(http.Handler) http.Handler
	// Cache has the limits of the cache. Start sets its decoder.
	Cache cache.Options
	// Serving selects the served versions. Default: those of kube-apiserver.
	Serving *resources.Serving
	// Kinds are additional entries, as the package of a group declares them.
	Kinds []*resources.Resource
	// Store is the store. Default: a new temporary one. Servers may share one.
	Store storage.Store
}

// Remote is a function for Options.Handler that makes clients appear to be on another machine.
func Remote(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = "192.0.2.7:1234"
		h.ServeHTTP(w, r)
	})
}

// Server is a running server.
type Server struct {
	// URL is the URL of the port without TLS, without a slash at the end. Its clients are administrators.
	URL string
	// Client sends requests to the server, without a limit of connections and without compression.
	Client  *http.Client
	API     *apiserver.Server
	Store   storage.Store
	Cache   *cache.Cache
	Decoder *storage.Decoder
	Types   *resources.Types
	// Webhooks call the webhooks of admission and of CustomResourceDefinitions.
	Webhooks *webhook.Clients

	t testing.TB
}

// Start returns a server that runs until the test ends.
func Start(t testing.TB, o *Options) *Server {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	s := &Server{t: t, Store: o.Store, Types: resources.NewTable(
		append(resources.Every(o.Serving), resources.Complete(o.Kinds, o.Serving)...)...)}
	if s.Store == nil {
		s.Store = storagetest.Open(t)
	}
	s.Decoder = &storage.Decoder{
		Root: storage.DefaultRoot, Fields: s.Types.SelectableFields, Transcode: resources.Transcode,
		Upgrade: resources.Upgrade,
	}
	bounds := o.Cache
	bounds.Decoder = *s.Decoder
	s.Cache = cache.New(bounds)
	services := registry.Data{Store: s.Store, Cache: s.Cache, Types: s.Types, Root: s.Decoder.Root}
	s.Webhooks = webhook.NewClients(services.ServiceAddress)
	s.follow()
	config := apiserver.Config{
		Parts: apiserver.Parts{
			Store: s.Store, Cache: s.Cache, Decoder: s.Decoder, Types: s.Types, Webhooks: s.Webhooks,
			Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		},
		Documents: apiserver.Documents{
			Version: apiserver.Version{Major: "1", Minor: "37", GitVersion: "v1.37.2+test"},
			Address: "127.0.0.1:6443",
			Page:    true,
		},
	}
	if o.Configure != nil {
		o.Configure(&config)
	}
	var err error
	if s.API, err = apiserver.New(config); err != nil {
		t.Fatalf("making the server: %v", err)
	}
	h := s.API.Insecure()
	if o.Handler != nil {
		h = o.Handler(h)
	}
	s.serve(h)
	s.makeDefault()
	return s
}

// follow fills the cache until the test ends.
func (s *Server) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	log := slog.New(slog.NewTextHandler(s.t.Output(), nil))
	definitions := customresource.NewInstaller(s.Types, s.Decoder, s.Webhooks, log)
	go func() {
		done <- s.Store.Follow(ctx, func(b storage.Batch) error {
			return s.Cache.Apply(definitions.Apply(b))
		})
	}()
	s.t.Cleanup(func() {
		cancel()
		<-done
	})
	select {
	case <-s.Cache.Ready():
	case err := <-done:
		s.t.Fatalf("following the store: %v", err)
	}
}

// serve opens the port.
func (s *Server) serve(h http.Handler) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatalf("opening a port: %v", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 20,
		ErrorLog: slog.NewLogLogger(slog.NewTextHandler(s.t.Output(), nil), slog.LevelInfo)}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	transport := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	s.URL, s.Client = "http://"+ln.Addr().String(), &http.Client{Transport: transport}
	s.t.Cleanup(func() {
		s.API.CloseWatches()
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			s.t.Errorf("requests still in flight at the end of the test: %v", err)
			_ = server.Close() // cut off what is left
		}
		<-done
	})
}

// makeDefault creates the namespace "default" if it does not exist. In a complete server a controller does.
func (s *Server) makeDefault() {
	if o, _ := s.Cache.Get(s.Decoder.Root + "/namespaces/default"); o != nil {
		return
	}
	p := registry.Path{Resource: s.Types.Lookup("", "v1", "namespaces")}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	api := s.API.Loopback(authorization.Loopback, "apiservertest")
	if _, err := api.Create(context.Background(), p, ns); err != nil {
		s.t.Fatalf("creating the namespace default: %v", err)
	}
}

// Put writes a value into etcd without the API server, and waits until the server's cache has it.
func (s *Server) Put(t testing.TB, key, value string) {
	t.Helper()
	var expect int64
	if r, err := s.Store.Get(t.Context(), key); err == nil {
		expect = r.ModRevision
	}
	rev, err := s.Store.Commit(t.Context(), storage.Txn{Key: key, Expect: expect, Value: []byte(value)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Cache.Wait(t.Context(), rev); err != nil {
		t.Fatal(err)
	}
}
