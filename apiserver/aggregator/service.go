package aggregator

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
)

// Config has the functions and values that an Aggregator uses.
type Config struct {
	// Get returns a stored APIService and its revision, or nil. Names returns the names of all.
	Get   func(name string) (data []byte, revision int64)
	Names func() []string
	// Resolve returns the host and port of a backend for a port of a Service.
	Resolve func(ctx context.Context, namespace, name string, port int32) (address string, err error)
	// Certificate returns the client certificate of the front proxy. It may be nil.
	Certificate func() (*tls.Certificate, error)
	Now         func() time.Time
}

// Aggregator finds the servers of APIServices. Its methods may be called from any goroutine.
type Aggregator struct {
	config Config
	// life ends with Close, which ends reads of documents and forwarded requests.
	life  context.Context
	Close func()
	// mu guards known, the APIServices by name as they were last read.
	mu    sync.Mutex
	known map[string]*Service
}

// New returns an Aggregator.
func New(c Config) *Aggregator {
	a := &Aggregator{config: c, known: map[string]*Service{}}
	a.life, a.Close = context.WithCancel(context.Background())
	return a
}

// Service is one state of an APIService that names a service.
type Service struct {
	v1.APIService
	revision  int64
	transport *http.Transport
	// broken is the reason why there is no transport.
	broken    error
	discovery kept[resources]
	v3        kept[string]
	v2        kept[swagger]
}

// Of returns the APIService of a group version if it has a service, or nil. The core group and the group of APIServices
// are always served here.
func (a *Aggregator) Of(group, version string) *Service {
	if group == "" || group == v1.GroupName {
		return nil
	}
	return a.service(version + "." + group)
}

// Backend returns a value that changes with the specification of a version's APIService.
func (a *Aggregator) Backend(gv schema.GroupVersion) any {
	return cmp.Or(a.Of(gv.Group, gv.Version), &Service{}).transport
}

// Preferred returns the version of a group with the highest priority. versions are the candidates, the newest first. ok
// is false if none of them has a service.
func (a *Aggregator) Preferred(group string, versions ...string) (gv schema.GroupVersion, ok bool) {
	var best int32
	for _, version := range versions {
		if s := a.Of(group, version); s != nil && (!ok || s.Spec.VersionPriority > best) {
			gv, ok, best = schema.GroupVersion{Group: group, Version: version}, true, s.Spec.VersionPriority
		}
	}
	return gv, ok
}

// all returns the APIServices that have a service, by name.
func (a *Aggregator) all() (out []*Service) {
	names := a.config.Names()
	a.mu.Lock()
	for name, s := range a.known {
		if _, ok := slices.BinarySearch(names, name); !ok {
			a.forget(name, s)
		}
	}
	a.mu.Unlock()
	for _, name := range names {
		version, group, _ := strings.Cut(name, ".")
		if s := a.Of(group, version); s != nil {
			out = append(out, s)
		}
	}
	return out
}

// forget drops an APIService that was deleted. The caller holds a.mu.
func (a *Aggregator) forget(name string, s *Service) {
	delete(a.known, name)
	if s != nil && s.transport != nil {
		s.transport.CloseIdleConnections()
	}
}

func (a *Aggregator) service(name string) *Service {
	data, revision := a.config.Get(name)
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.known[name]
	switch {
	case data == nil:
		a.forget(name, s)
		return nil
	case s == nil || s.revision != revision:
		s = a.read(data, revision, s)
		a.known[name] = s
	}
	if s.Spec.Service == nil {
		return nil
	}
	return s
}

// read decodes an APIService. It keeps the connections if the specification has not changed. A value that can't be
// decoded has no service.
func (a *Aggregator) read(data []byte, revision int64, old *Service) *Service {
	s := &Service{revision: revision}
	if err := json.Unmarshal(data, &s.APIService); err != nil {
		s.Spec.Service = nil
	}
	switch {
	case s.Spec.Service == nil:
	case old != nil && old.transport != nil && equality.Semantic.DeepEqual(old.Spec, s.Spec):
		s.transport = old.transport
		return s
	default:
		s.transport, s.broken = a.connect(&s.Spec)
	}
	if old != nil && old.transport != nil {
		old.transport.CloseIdleConnections()
	}
	return s
}

// connect returns the transport for a service (KA pkg/controllers/status/remote: BuildTransportConfig).
func (a *Aggregator) connect(spec *v1.APIServiceSpec) (*http.Transport, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, InsecureSkipVerify: spec.InsecureSkipTLSVerify,
		ServerName: spec.Service.Name + "." + spec.Service.Namespace + ".svc",
	}
	if len(spec.CABundle) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(spec.CABundle) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	if get := a.config.Certificate; get != nil {
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return get() }
	}
	return utilnet.SetTransportDefaults(&http.Transport{TLSClientConfig: c}), nil
}

// available reports whether requests are forwarded.
func (s *Service) available() bool {
	return helper.IsAPIServiceConditionTrue(&s.APIService, v1.Available)
}

// root returns the path of the group version.
func (s *Service) root() string { return "/apis/" + s.Spec.Group + "/" + s.Spec.Version }

// address returns the host and port of a backend of the service.
func (a *Aggregator) address(ctx context.Context, s *Service) (string, error) {
	port := int32(443)
	if p := s.Spec.Service.Port; p != nil {
		port = *p
	}
	return a.config.Resolve(ctx, s.Spec.Service.Namespace, s.Spec.Service.Name, port)
}
