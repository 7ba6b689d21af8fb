package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
)

const (
	// MaxTimeout limits the duration of a call (AS pkg/util/webhook/authentication.go: setGlobalDefaults).
	MaxTimeout = 30 * time.Second
	// maxClients limits the configurations whose connections are kept (AS pkg/util/webhook/client.go).
	maxClients = 200
)

// Config is the address of a webhook and its certificate authorities.
type Config struct {
	admissionregistrationv1.WebhookClientConfig
	// Guarded prevents that redirects are followed and that errors contain a part of a response.
	Guarded bool `json:"guarded,omitempty"`
}

// Resolver returns the host and port at which a service can be reached.
type Resolver func(ctx context.Context, namespace, name string, port int32) (address string, err error)

// Clients call webhooks. Their methods may be called from any goroutine.
type Clients struct {
	// resolve finds services. It may be nil.
	resolve Resolver
	// refused is the reason that was passed to Refuse.
	refused      error
	kept         *lru.Cache
	certificates certificates
	large        *semaphore.Weighted
}

// errNoServices is the error for a webhook with a service if there is no resolver.
var errNoServices = errors.New("a webhook can only be reached by its url here")

// NewClients returns Clients. resolve may be nil.
func NewClients(resolve Resolver) *Clients {
	c := &Clients{resolve: resolve, certificates: newCertificates(), large: semaphore.NewWeighted(maxLarge)}
	c.kept = lru.NewWithEvictionFunc(maxClients, func(_ lru.Key, value any) {
		value.(*client).transport.CloseIdleConnections()
	})
	return c
}

// Refuse makes all calls return the reason, without sending anything. It must be called before the first Call.
func (c *Clients) Refuse(reason error) { c.refused = reason }

// client is the HTTP client of one configuration.
type client struct {
	http *http.Client
	// transport keeps the connections.
	transport *http.Transport
	// base is the URL without a query.
	base url.URL
	// guarded is Config.Guarded.
	guarded bool
}

// of returns the client of a configuration.
func (c *Clients) of(config *Config) (*client, error) {
	if c.refused != nil {
		return nil, c.refused
	}
	data, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encoding the configuration of a webhook: %w", err)
	}
	key := sha256.Sum256(data)
	if kept, ok := c.kept.Get(key); ok {
		return kept.(*client), nil
	}
	made, err := c.dial(config)
	if err == nil {
		c.kept.Add(key, made)
	}
	return made, err
}

// dial creates a client. It connects when it is first used.
func (c *Clients) dial(config *Config) (*client, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	made := &client{
		http: &http.Client{Transport: c.certificates.observe(t)}, transport: t, guarded: config.Guarded,
	}
	if config.Guarded {
		made.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	if s := config.Service; s != nil {
		made.base = c.toService(t, s)
	} else {
		to := ptr.Deref(config.URL, "")
		if to == "" {
			return nil, errors.New("webhook configuration must have either service or URL")
		}
		u, err := url.Parse(to)
		if err != nil {
			return nil, fmt.Errorf("Unparsable URL: %v", err) //lint:ignore ST1005 upstream's words
		}
		made.base = url.URL{Scheme: u.Scheme, Host: u.Host, Path: path.Join("/", u.Path)}
		t.ForceAttemptHTTP2 = isLoopback(u.Hostname())
	}
	if ca := bytes.TrimSpace(config.CABundle); len(ca) > 0 {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
		}
	}
	return made, nil
}

// toService configures a transport to connect to a service, and returns its URL.
func (c *Clients) toService(t *http.Transport, s *admissionregistrationv1.ServiceReference) url.URL {
	port := cmp.Or(ptr.Deref(s.Port, 0), 443)
	name := s.Name + "." + s.Namespace + ".svc"
	host := net.JoinHostPort(name, strconv.Itoa(int(port)))
	t.TLSClientConfig.ServerName = name
	t.Proxy = nil // a proxy can't resolve the name
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == host {
			if c.resolve == nil {
				return nil, errNoServices
			}
			var err error
			if address, err = c.resolve(ctx, s.Namespace, s.Name, port); err != nil {
				return nil, err
			}
		}
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	return url.URL{Scheme: "https", Host: host, Path: path.Join("/", ptr.Deref(s.Path, ""))}
}

// isLoopback reports whether a host is this machine. Other hosts get HTTP/1.1, which balances the load of several
// instances (kubernetes#75791).
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
