package loopback_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const (
	aggregated = "v1.example.com"
	endpoints  = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
	accepts    = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// extension is an API server of widgets behind an APIService.
type extension struct {
	*apiservertest.Server
	port *httptest.Server
	mu   sync.Mutex
	// requests are those of users, without the checks and reads of documents.
	requests []*http.Request
	// While hangs is set, lists of widgets get no response, and are sent to hung.
	hangs atomic.Bool
	hung  chan string
}

// extend starts a server with RBAC, and an extension of it, which is available.
func extend(t *testing.T) (s *apiservertest.Secured, e *extension, changes *apiservertest.Watch) {
	t.Helper()
	e = &extension{Server: defined(t, nil), hung: make(chan string, 100)}
	define(t, e.Server, widgets("widgets", "Widget", version("v1", true, size, "")))
	ca := apiservertest.NewAuthority(t)
	server := apiservertest.NewCertificate(t, &ca, &x509.Certificate{
		DNSNames: []string{"ext.default.svc"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	front := apiservertest.NewCertificate(t, &ca, &x509.Certificate{})
	h := e.API.Insecure()
	e.port = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 || !r.TLS.PeerCertificates[0].Equal(front.Cert) {
			http.Error(w, "not the front proxy", http.StatusUnauthorized)
			return
		}
		if r.Header.Get("X-Remote-User") != "system:kube-aggregator" {
			e.mu.Lock()
			e.requests = append(e.requests, r.Clone(t.Context()))
			e.mu.Unlock()
		}
		if e.hangs.Load() && strings.HasSuffix(r.URL.Path, "/widgets") {
			e.hung <- r.URL.Path
			<-r.Context().Done()
		}
		if strings.HasSuffix(r.URL.Path, "/unclear") {
			http.NotFound(w, r) // as a proxy does
			return
		}
		h.ServeHTTP(w, r)
	}))
	e.port.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, Certificates: []tls.Certificate{
		{Certificate: [][]byte{server.Cert.Raw}, PrivateKey: server.Key},
	}}
	e.port.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo) // checks end when one succeeds
	e.port.StartTLS()
	s = apiservertest.StartSecured(t, func(c *apiserver.Config) {
		c.FrontProxy = func() (*tls.Certificate, error) {
			return &tls.Certificate{Certificate: [][]byte{front.Cert.Raw}, PrivateKey: front.Key}, nil
		}
	})
	t.Cleanup(e.close)
	starts(t, s.Server, "apiservice-controller", "namespace-controller")
	changes = s.Watch(apiServices + "?watch=1")
	_, port, _ := net.SplitHostPort(e.port.Listener.Addr().String())
	bundle, err := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Cert.Raw}))
	if err != nil {
		t.Fatal(err)
	}
	do(t, s.Server, "POST", "/api/v1/namespaces/default/services",
		`{"metadata":{"name":"ext"},"spec":{"ports":[{"name":"x","port":443}]}}`)
	do(t, s.Server, "POST", endpoints, `{"metadata":{"name":"a","labels":{"kubernetes.io/service-name":"ext"}},`+
		`"addressType":"IPv4","endpoints":[{"addresses":["127.0.0.1"]}],"ports":[{"name":"x","port":`+port+`}]}`)
	do(t, s.Server, "POST", apiServices, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"group":"example.com",`+
		`"version":"v1","groupPriorityMinimum":17790,"versionPriority":5,"caBundle":%s,`+
		`"service":{"namespace":"default","name":"ext"}}}`, aggregated, bundle))
	shows(t, changes, aggregated, `"message":"all checks passed","reason":"Passed","status":"True"`)
	s.Settle()
	return s, e, changes
}

// close ends the extension.
func (e *extension) close() {
	e.API.CloseWatches()
	e.port.CloseClientConnections()
	e.port.Close()
}

// fails ends the extension, and waits until its APIService says so.
func (e *extension) fails(t *testing.T, s *apiservertest.Server, changes *apiservertest.Watch) {
	t.Helper()
	e.close()
	do(t, s, "PATCH", endpoints+"/a", `{"metadata":{"annotations":{"check":"now"}}}`)
	shows(t, changes, aggregated, `"reason":"FailedDiscoveryCheck","status":"False"`)
}

// TestAggregatedServer: requests for the version of an APIService with a service are forwarded after authorization, as
// the user, who is named in headers that no client can set; documents contain what the other server has.
func TestAggregatedServer(t *testing.T) {
	apiservertest.Sequential(t)
	s, e, changes := extend(t)
	if a := s.As("alice", "GET", v1widgets, nil); a.Code != http.StatusForbidden || len(e.requests) > 0 {
		t.Fatalf("%d %s, %d requests", a.Code, a.Body, len(e.requests))
	}
	s.Grant("alice", "", "widgets", `[{"apiGroups":["example.com"],"resources":["*"],"verbs":["*"]}]`)
	w := s.Watch(v1widgets + "?watch=1")
	a := s.As("alice", "POST", v1widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`,
		"X-Remote-User", "root", "X-Remote-Group", "system:masters", "X-Remote-Extra-Scopes", "all", "Impersonate-Bogus", "x")
	if a.Code != http.StatusCreated {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	if got, err := w.Next(); err != nil || got.Type != "ADDED" || got.Object.GetName() != "w" {
		t.Errorf("%v, %v", got, err)
	}
	e.mu.Lock()
	h := e.requests[len(e.requests)-1].Header
	e.mu.Unlock()
	if got := fmt.Sprint(h["X-Remote-User"], h["X-Remote-Uid"], h["X-Remote-Group"], h["X-Remote-Extra-Scopes"],
		h["Authorization"]); got != "[alice] [2] [dev system:authenticated] [] []" {
		t.Error(got)
	}
	for path, want := range map[string]string{
		"/apis":                           `"name":"example.com","versions":[{"groupVersion":"example.com/v1"`,
		"/apis/example.com":               `"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}`,
		"/apis/example.com/v1":            `"name":"widgets"`,
		"/openapi/v3":                     `"apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1?hash=`,
		"/openapi/v3/apis/example.com/v1": `"com.example.v1.Widget"`,
		"/openapi/v2":                     `"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"`,
	} {
		if a := s.Do("GET", path, nil); a.Code != http.StatusOK || !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %d %.2000s", path, a.Code, a.Body)
		}
	}
	fresh, order := freshness(s.Server)
	if want := []string{"apiregistration.k8s.io", "apps", "example.com", "events.k8s.io"}; fresh != "Current 1" ||
		!slices.Equal(order[:len(want)], want) {
		t.Error(fresh, order)
	}
	e.fails(t, s.Server, changes)
	s.Settle()
	if a := s.Do("GET", v1widgets, nil); a.Code != http.StatusServiceUnavailable ||
		string(a.Body) != "service unavailable\n" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if fresh, _ := freshness(s.Server); fresh != "Stale 0" {
		t.Error(fresh)
	}
	if a := s.Do("GET", "/openapi/v3", nil); strings.Contains(string(a.Body), "example.com") {
		t.Errorf("%s", a.Body)
	}
}

// freshness is that of the version, with its number of resources, and the order of the groups.
func freshness(s *apiservertest.Server) (fresh string, order []string) {
	for _, g := range s.Do("GET", "/apis", nil, "Accept", accepts).List().Items {
		order = append(order, g.GetName())
		if g.GetName() == "example.com" {
			v := g.Object["versions"].([]any)[0].(map[string]any)
			resources, _ := v["resources"].([]any)
			fresh = fmt.Sprint(v["freshness"], " ", len(resources))
		}
	}
	return fresh, order
}

// TestNamespaceWithAggregatedObjects: the objects of other servers are deleted with their namespace, which stays while
// one of them does not answer, until its APIService is deleted (E-14, E-15, J-25).
func TestNamespaceWithAggregatedObjects(t *testing.T) {
	s, e, changes := extend(t)
	do(t, e.Server, "POST", "/api/v1/namespaces", `{"metadata":{"name":"a"}}`)
	const inA = "/apis/example.com/v1/namespaces/a/widgets"
	do(t, e.Server, "POST", inA, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`)
	namespaces := s.Watch("/api/v1/namespaces?watch=1")
	do(t, s.Server, "DELETE", "/api/v1/namespaces/a", "")
	gone(t, namespaces, "a")
	if a := e.Do("GET", inA+"/w", nil); a.Code != http.StatusNotFound {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	e.mu.Lock()
	if by := e.requests[0].Header.Get("X-Remote-User"); by != "system:serviceaccount:kube-system:namespace-controller" {
		t.Error(by)
	}
	e.mu.Unlock()
	e.fails(t, s.Server, changes)
	do(t, s.Server, "DELETE", "/api/v1/namespaces/b", "")
	shows(t, namespaces, "b", `"message":"Discovery failed for some groups, 1 failing: unable to retrieve the complete `+
		`list of server APIs: example.com/v1: stale GroupVersion discovery: example.com/v1","reason":"DiscoveryFailed"`)
	do(t, s.Server, "DELETE", apiServices+"/"+aggregated, "")
	gone(t, namespaces, "b")
}
