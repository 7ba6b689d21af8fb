package endpoints_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// backend starts a server whose connections to nodes and pods all reach the handler, over HTTPS on the ports 10250 and
// 443, and over HTTP on others. The server has a pod "p" at 10.1.0.1 on the node "n", and a service "s" with the pod.
func backend(t *testing.T, h http.HandlerFunc) *apiservertest.Server {
	t.Helper()
	plain, secure := httptest.NewServer(h), httptest.NewUnstartedServer(h)
	secure.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	secure.StartTLS()
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Proxy.Lookup = func(_ context.Context, _, host string) ([]netip.Addr, error) {
			if host == "n.example" {
				host = "10.0.0.1"
			}
			a, err := netip.ParseAddr(host)
			return []netip.Addr{a}, err
		}
		c.Proxy.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			to := plain.Listener.Addr()
			if strings.HasSuffix(address, ":10250") || strings.HasSuffix(address, ":443") {
				to = secure.Listener.Addr()
			}
			return (&net.Dialer{}).DialContext(ctx, network, to.String())
		}
		c.Proxy.Certificate = func() (*tls.Certificate, error) { return &secure.TLS.Certificates[0], nil }
	}})
	t.Cleanup(func() { // before the server, whose connections the backends would wait for
		s.API.CloseWatches()
		secure.CloseClientConnections()
		secure.Close()
		plain.CloseClientConnections()
		plain.Close()
	})
	const namespace = "/api/v1/namespaces/default/"
	must(t, s.Do("POST", "/api/v1/nodes", `{"metadata":{"name":"n"},"status":{"addresses":[
		{"type":"InternalIP","address":"10.0.0.2"},{"type":"Hostname","address":"n.example"}]}}`), 201)
	must(t, s.Do("POST", namespace+"pods", `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[
		{"name":"c","image":"i","ports":[{"containerPort":8080}]}]}}`), 201)
	must(t, s.Do("PATCH", namespace+"pods/p/status",
		`{"status":{"podIP":"10.1.0.1","podIPs":[{"ip":"10.1.0.1"}]}}`, "Content-Type", "application/merge-patch+json"), 200)
	must(t, s.Do("POST", namespace+"services", `{"metadata":{"name":"s"},"spec":{"ports":[
		{"name":"web","port":80,"targetPort":8080},{"name":"tls","port":443}]}}`), 201)
	must(t, s.Do("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", `{"metadata":{"name":"s",
		"labels":{"kubernetes.io/service-name":"s"}},"addressType":"IPv4",
		"ports":[{"name":"web","port":8080},{"name":"tls","port":443}],"endpoints":[{"addresses":["10.1.0.1"],
		"targetRef":{"kind":"Pod","namespace":"default","name":"p"}}]}`), 201)
	return s
}

// TestBackendsGetRequestsWithoutCredentials: a request reaches the backend that it names, at the path, with the method,
// body and query, without the credentials of the client. The server authenticates itself to kubelets only.
func TestBackendsGetRequestsWithoutCredentials(t *testing.T) {
	s := backend(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		certified := r.TLS != nil && len(r.TLS.PeerCertificates) > 0
		_, _ = fmt.Fprintf(w, "%s %s %d %t%s", r.Method, r.RequestURI, len(body), certified, r.Header.Get("Authorization"))
	})
	const pods, services = "/api/v1/namespaces/default/pods/", "/api/v1/namespaces/default/services/"
	for _, c := range []struct{ method, path, body, want string }{
		{"GET", "/api/v1/nodes/n/proxy/stats/?a=b", "", "GET /stats/?a=b 0 true"},
		{"PUT", "/api/v1/nodes/n:10250/proxy/x", "12", "PUT /x 2 true"},
		{"GET", "/api/v1/nodes/https:n:443/proxy/x", "", "GET /x 0 false"},
		{"GET", "/api/v1/nodes/n:80/proxy/x", "", "GET /x 0 false"},
		{"POST", pods + "p/proxy/a/b", strings.Repeat("x", 4<<20), "POST /a/b 4194304 false"},
		{"DELETE", pods + "https:p:443/proxy/", "", "DELETE / 0 false"},
		{"OPTIONS", services + "s:80/proxy/x", "", "OPTIONS /x 0 false"},
		{"PATCH", services + "https:s:tls/proxy/x?path=y", "1", "PATCH /x?path=y 1 false"},
		{"GET", pods + "p/log?tailLines=3&follow=1&limitBytes=9&insecureSkipTLSVerifyBackend=true", "",
			"GET /containerLogs/default/p/c?follow=true&limitBytes=9&tailLines=3 0 true"},
	} {
		a := s.Do(c.method, c.path, c.body, "Authorization", "Bearer secret", "Content-Type", "text/plain")
		if a.Code != http.StatusOK || string(a.Body) != c.want {
			t.Errorf("%s %s: %d %s, want %s", c.method, c.path, a.Code, a.Body, c.want)
		}
	}
}

// TestBackendsAnswers: redirects of a proxied backend are rewritten to paths of the server. Redirects of a kubelet are
// errors. The client gets the errors of a kubelet.
func TestBackendsAnswers(t *testing.T) {
	s := backend(t, func(w http.ResponseWriter, r *http.Request) {
		switch c := r.Header.Get("Answer") + r.URL.Query().Get("tailLines"); c {
		case "302":
			http.Redirect(w, r, "/other", http.StatusFound)
		case "400", "404", "500":
			w.WriteHeader(map[string]int{"400": 400, "404": 404, "500": 500}[c])
			_, _ = io.WriteString(w, "said "+c)
		case "page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(make([]byte, 9<<20))
		case "compressed":
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Encoding", "gzip")
		case "0":
			panic(http.ErrAbortHandler)
		}
	})
	s.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	const p = "/api/v1/namespaces/default/pods/p"
	for _, c := range []struct {
		path   string
		header []string
		code   int
		want   string
	}{
		{p + "/proxy?x=y", nil, 301, p + "/proxy/?x=y"},
		{p + "/proxy/", []string{"Answer", "302"}, 302, p + "/proxy/other"},
		{p + "/proxy/", []string{"Answer", "404"}, 404, "said 404"},
		{p + "/proxy/", []string{"Answer", "0"}, 503, "error trying to reach service: EOF"},
		{p + "/proxy/", []string{"Answer", "page"}, 500, "http: request body too large"},
		{p + "/proxy/", []string{"Answer", "compressed"}, 503, "the page is compressed, which was not requested"},
		{p + "/log?tailLines=302", nil, 500, "redirects forbidden"},
		{p + "/log?tailLines=400", nil, 400, `"message":"said 400","reason":"BadRequest"`},
		{p + "/log?tailLines=404", nil, 404, `"message":"the server could not find the requested resource ( pods/log p)"`},
		{p + "/log?tailLines=500", nil, 500, `"message":"Internal error occurred: said 500"`},
		{p + "/log?tailLines=0", nil, 500, "/containerLogs/default/p/c?tailLines=0\\\": EOF"},
		{p + "/exec?command=ls", nil, 400, "Upgrade request required"},
		{p + "/exec?command=ls", []string{"Connection", "Upgrade", "Upgrade", "SPDY/3.1", "Answer", "302"}, 500,
			"invalid upgrade response: status code 302"},
		{p + "/exec?command=ls", []string{"Connection", "Upgrade", "Upgrade", "SPDY/3.1", "Answer", "404"}, 404, "said 404"},
	} {
		a := s.Do("GET", c.path, nil, c.header...)
		location := a.Header.Get("Location")
		if a.Code != c.code || !strings.Contains(string(a.Body)+location, c.want) {
			t.Errorf("GET %s %v: %d %s %s, want %d %s", c.path, c.header, a.Code, a.Body, location, c.code, c.want)
		}
	}
}

// TestStreamsPassLinesUntilShutdown: the client gets each line of a log when it is written. An upgraded connection
// carries bytes in both directions. Both end when the server shuts down.
func TestStreamsPassLinesUntilShutdown(t *testing.T) {
	lines, asked := make(chan string), make(chan struct{})
	s := backend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "never" {
			close(asked)
			<-r.Context().Done()
			return
		}
		if r.Header.Get("Upgrade") != "" {
			c, b, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			_, _ = io.Copy(c, b)
			return
		}
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case line := <-lines:
				_, _ = io.WriteString(w, line)
			case <-r.Context().Done():
				return
			}
		}
	})
	r, err := s.Client.Get(s.URL + "/api/v1/namespaces/default/pods/p/log?follow=true")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	log := bufio.NewReader(r.Body)
	for _, line := range []string{"a\n", "b\n"} {
		lines <- line
		if got, err := log.ReadString('\n'); got != line || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	conn := dial(t, s)
	if _, err := io.WriteString(conn, "POST /api/v1/namespaces/default/pods/p/attach HTTP/1.1\r\nHost: localhost\r\n"+
		"Connection: Upgrade\r\nUpgrade: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if a, err := http.ReadResponse(conn.r, nil); err != nil || a.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(a, err)
	}
	for _, line := range []string{"c\n", "d\n"} {
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
		if got, err := conn.r.ReadString('\n'); got != line || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	unanswered := make(chan int)
	go func() {
		const exec = "/api/v1/namespaces/default/pods/p/exec"
		unanswered <- s.Do("POST", exec, nil, "Connection", "Upgrade", "Upgrade", "never").Code
	}()
	<-asked
	s.API.CloseWatches()
	if code := <-unanswered; code != http.StatusInternalServerError {
		t.Errorf("a connection that the kubelet does not answer: %d", code)
	}
	if _, err := log.ReadString('\n'); err == nil {
		t.Error("the log goes on after the shutdown")
	}
	if _, err := conn.r.ReadString('\n'); err == nil {
		t.Error("the connection goes on after the shutdown")
	}
}
