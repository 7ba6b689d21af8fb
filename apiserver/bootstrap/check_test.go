package bootstrap_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

const (
	endpointsPath = "/api/v1/namespaces/default/endpoints/kubernetes"
	slicesPath    = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
	trustPath     = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
)

// start starts a server with the system namespaces that the objects need.
func start(t *testing.T, o *apiservertest.Options) *apiservertest.Server {
	t.Helper()
	s := apiservertest.Start(t, o)
	p := registry.Path{Resource: s.Types.Lookup("", "v1", "namespaces")}
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem}}
	if _, err := s.API.Loopback(authorization.Loopback, "test").Create(t.Context(), p, system); err != nil && o == nil {
		t.Fatal(err)
	}
	return s
}

// read returns an object, and its resource version.
func read[T any](t *testing.T, s *apiservertest.Server, path string) (v T, version string) {
	t.Helper()
	a := s.Do("GET", path, nil)
	if a.Code != 200 {
		t.Fatalf("%s: %d %s", path, a.Code, a.Body)
	}
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatal(err)
	}
	return v, a.Object().GetResourceVersion()
}

// ensure creates the missing objects.
func ensure(t *testing.T, s *apiservertest.Server, o bootstrap.Options) {
	t.Helper()
	if err := s.API.EnsureFirst(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// published returns the addresses and ports of Endpoints and EndpointSlice, which must be the same.
func published(t *testing.T, s *apiservertest.Server) (addresses []string, port int32) {
	t.Helper()
	e, _ := read[corev1.Endpoints](t, s, endpointsPath)
	l, _ := read[discoveryv1.EndpointSlice](t, s, slicesPath+"/kubernetes")
	if len(e.Subsets) != 1 || len(e.Subsets[0].Ports) != 1 || len(l.Ports) != 1 {
		t.Fatalf("%+v %+v", e, l)
	}
	var sliced []string
	for _, a := range e.Subsets[0].Addresses {
		addresses = append(addresses, a.IP)
	}
	for _, a := range l.Endpoints {
		sliced = append(sliced, a.Addresses...)
		if a.Conditions.Ready == nil || !*a.Conditions.Ready {
			t.Errorf("%+v is not ready", a)
		}
	}
	p := e.Subsets[0].Ports[0]
	if want := (corev1.EndpointPort{Name: "https", Port: *l.Ports[0].Port, Protocol: "TCP"}); p != want ||
		*l.Ports[0].Name != "https" || *l.Ports[0].Protocol != "TCP" || l.AddressType != discoveryv1.AddressTypeIPv4 {
		t.Errorf("%+v %+v", e, l)
	}
	for _, diff := range []string{
		cmp.Diff(addresses, sliced), cmp.Diff(map[string]string{discoveryv1.LabelSkipMirror: "true"}, e.Labels),
		cmp.Diff(map[string]string{discoveryv1.LabelServiceName: "kubernetes"}, l.Labels),
	} {
		if diff != "" {
			t.Error(diff)
		}
	}
	return addresses, p.Port
}

// TestAddressOfServerIsPublished: the address and the port of a server are published. They are written again only after
// a change. Other slices of the service are deleted (K pkg/controlplane/reconcilers/endpointsadapter_test.go).
func TestAddressOfServerIsPublished(t *testing.T) {
	s := start(t, nil)
	o := bootstrap.Options{SecurePort: 6443, Advertise: netip.MustParseAddr("10.1.2.3")}
	ensure(t, s, o)
	if a, port := published(t, s); !slices.Equal(a, []string{"10.1.2.3"}) || port != 6443 {
		t.Errorf("%q %d", a, port)
	}
	_, before := read[corev1.Endpoints](t, s, endpointsPath)
	ensure(t, s, o)
	if _, after := read[corev1.Endpoints](t, s, endpointsPath); after != before {
		t.Error("the Endpoints were written although they had not changed")
	}
	for _, r := range [][3]string{
		{"PUT", endpointsPath, `{"metadata":{"name":"kubernetes"},"subsets":[{"addresses":[{"ip":"10.9.9.9"}],
			"ports":[{"port":1}]},{"addresses":[{"ip":"10.9.9.8"}],"ports":[{"port":2}]}]}`},
		{"DELETE", slicesPath + "/kubernetes", ""},
		{"POST", slicesPath, `{"metadata":{"name":"stray","labels":{"kubernetes.io/service-name":"kubernetes"}},
			"addressType":"IPv4","endpoints":[]}`},
		{"POST", slicesPath, `{"metadata":{"name":"other","labels":{"kubernetes.io/service-name":"other"}},
			"addressType":"IPv4","endpoints":[]}`},
	} {
		if a := s.Do(r[0], r[1], r[2]); a.Code > 201 {
			t.Fatalf("%v: %d %s", r, a.Code, a.Body)
		}
	}
	o.SecurePort, o.Advertise = 6444, netip.MustParseAddr("10.1.2.4")
	ensure(t, s, o)
	if a, port := published(t, s); !slices.Equal(a, []string{"10.1.2.4"}) || port != 6444 {
		t.Errorf("%q %d", a, port)
	}
	for name, code := range map[string]int{"stray": 404, "other": 200} {
		if a := s.Do("GET", slicesPath+"/"+name, nil); a.Code != code {
			t.Errorf("the slice %s: %d", name, a.Code)
		}
	}
}

// TestUnpublished: addresses that no endpoint can have are not published, and the start succeeds.
func TestUnpublished(t *testing.T) {
	s := start(t, nil)
	for _, a := range []string{"127.0.0.1", "0.0.0.0", "169.254.1.1", "224.0.0.1", "::1", "fd00::1"} {
		ensure(t, s, bootstrap.Options{SecurePort: 6443, Advertise: netip.MustParseAddr(a)})
		if got := s.Do("GET", endpointsPath, nil); got.Code != 404 {
			t.Errorf("%s: %d %s", a, got.Code, got.Body)
		}
	}
}

// TestSharedEndpoints: servers with the same store publish all their addresses. A server that shuts down removes its
// own, unless it is the last one (K pkg/controlplane/reconcilers/lease_test.go).
func TestSharedEndpoints(t *testing.T) {
	s := start(t, nil)
	options := func(address string) bootstrap.Options {
		return bootstrap.Options{SecurePort: 6443, Advertise: netip.MustParseAddr(address), Shared: true}
	}
	want := func(addresses ...string) {
		t.Helper()
		if got, _ := published(t, s); !slices.Equal(got, addresses) {
			t.Errorf("%q, want %q", got, addresses)
		}
	}
	first, second := options("10.0.0.2"), options("10.0.0.1")
	ensure(t, s, first)
	want("10.0.0.2")
	ensure(t, s, second)
	ensure(t, s, first)
	want("10.0.0.1", "10.0.0.2")
	for _, o := range []bootstrap.Options{first, first, second} { // twice: its lease may have expired before
		if err := s.API.Withdraw(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		want("10.0.0.1")
	}
}

// bundle has certificates in PEM.
func bundle(certs ...*x509.Certificate) (data []byte) {
	for _, c := range certs {
		data = append(data, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return data
}

// TestConfigMapHasAuthoritiesOfServers: the ConfigMap has the authorities of several servers. It has each certificate
// and each string once, and no expired certificates. A deleted ConfigMap is created again.
func TestConfigMapHasAuthoritiesOfServers(t *testing.T) {
	s := start(t, nil)
	one, two, proxies := apiservertest.NewAuthority(t), apiservertest.NewAuthority(t), apiservertest.NewAuthority(t)
	old := apiservertest.NewCertificate(t, nil, &x509.Certificate{
		IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	})
	trust := func(b bootstrap.Trust) bootstrap.Options {
		return bootstrap.Options{SecurePort: 6443, Trust: func() bootstrap.Trust { return b }}
	}
	want := func(data map[string]string) (version string) {
		t.Helper()
		c, version := read[corev1.ConfigMap](t, s, trustPath)
		if diff := cmp.Diff(data, c.Data, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		return version
	}
	clients := bootstrap.Trust{Clients: bundle(one.Cert, old.Cert)}
	ensure(t, s, trust(clients))
	before := want(map[string]string{"client-ca-file": string(bundle(one.Cert))})
	ensure(t, s, trust(clients))
	if after := want(map[string]string{"client-ca-file": string(bundle(one.Cert))}); after != before {
		t.Error("the ConfigMap was written without need")
	}
	ensure(t, s, trust(bootstrap.Trust{
		Clients: bundle(two.Cert), Proxies: bundle(proxies.Cert), Names: []string{"front"},
		UsernameHeaders: []string{"X-Remote-User"}, GroupHeaders: []string{"X-Remote-Group"},
		ExtraPrefixes: []string{"X-Remote-Extra-"},
	}))
	both := map[string]string{
		"client-ca-file":                     string(bundle(one.Cert, two.Cert)),
		"requestheader-client-ca-file":       string(bundle(proxies.Cert)),
		"requestheader-allowed-names":        `["front"]`,
		"requestheader-username-headers":     `["X-Remote-User"]`,
		"requestheader-uid-headers":          `[]`,
		"requestheader-group-headers":        `["X-Remote-Group"]`,
		"requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
	}
	want(both)
	ensure(t, s, trust(clients)) // the other server's stays
	want(both)
	ensure(t, s, trust(bootstrap.Trust{Proxies: bundle(proxies.Cert), Names: []string{"front", "back"}}))
	both["requestheader-allowed-names"] = `["front","back"]`
	want(both)
	if a := s.Do("DELETE", trustPath, nil); a.Code != 200 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	ensure(t, s, trust(clients))
	want(map[string]string{"client-ca-file": string(bundle(one.Cert))})
}

// TestLargeTrustIsDeletedAndCreatedAgain: the next pass creates the ConfigMap with current entries.
func TestLargeTrustIsDeletedAndCreatedAgain(t *testing.T) {
	s := start(t, nil)
	ca := apiservertest.NewAuthority(t)
	own := bootstrap.Options{
		SecurePort: 6443,
		Trust: func() bootstrap.Trust {
			return bootstrap.Trust{Proxies: bundle(ca.Cert), Names: []string{strings.Repeat("x", 600<<10)}}
		},
	}
	other, err := json.Marshal([]string{strings.Repeat("y", 500<<10)})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": "extension-apiserver-authentication"},
		"data":     map[string]string{"requestheader-allowed-names": string(other)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a := s.Do("POST", "/api/v1/namespaces/kube-system/configmaps", string(body)); a.Code != 201 {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	ensure(t, s, own) // the error is logged
	if a := s.Do("GET", trustPath, nil); a.Code != 404 {
		t.Errorf("%d", a.Code)
	}
	ensure(t, s, own)
	if c, _ := read[corev1.ConfigMap](t, s, trustPath); len(c.Data["requestheader-allowed-names"]) != 600<<10+4 {
		t.Errorf("%d", len(c.Data["requestheader-allowed-names"]))
	}
}
