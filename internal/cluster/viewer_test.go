package cluster

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/ui"
)

// view returns a server of the page for a cluster that is not kubecascade.
func view(t *testing.T, readOnly bool) (*apiservertest.Server, *httptest.Server) {
	t.Helper()
	s := apiservertest.Start(t, nil)
	own := httptest.NewServer(s.API.Insecure())
	t.Cleanup(own.Close)
	v := &Viewer{Client: &Client{URL: own.URL, HTTP: &http.Client{}}, ReadOnly: readOnly}
	h, err := v.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page := httptest.NewUnstartedServer(h)
	page.Start()
	t.Cleanup(func() {
		page.CloseClientConnections()
		page.Close()
	})
	return s, page
}

// TestStreamHasStateAndChanges: a stream has the state of the cluster, and then its changes.
func TestStreamHasStateAndChanges(t *testing.T) {
	s, page := view(t, false)
	const path = "/api/v1/namespaces/default/configmaps"
	a := s.Do("POST", path, `{"metadata":{"name":"top"}}`)
	if a.Code != http.StatusCreated {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", page.URL+"/kubecascade/v1/graph", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	next := func() (m ui.Message) {
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if m := next(); m.Type != ui.MessageBegin || m.Source != ui.SourceLists || len(m.Resources) < 30 {
		t.Fatalf("%+v", m)
	}
	found := false
	for m := next(); m.Type != ui.MessageSynced; m = next() {
		for _, o := range m.Objects {
			found = found || o.Name == "top" && o.Resource == "configmaps"
			if o.Resource == "events" {
				t.Error("an event is in the graph")
			}
		}
	}
	if !found {
		t.Error("the ConfigMap is not in the state")
	}
	s.Do("DELETE", path+"/top", "")
	for {
		m := next()
		for _, c := range m.Changes {
			if c.After == nil && c.Before.Name == "top" && c.Time > 0 {
				return
			}
		}
	}
}

// TestOnlyRequestsOfThePageAreForwarded: only requests that the page needs are forwarded, and none of other sites.
func TestOnlyRequestsOfThePageAreForwarded(t *testing.T) {
	s, page := view(t, false)
	s.Do("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"x"}}`)
	_, readOnly := view(t, true)
	const x = "/api/v1/namespaces/default/configmaps/x"
	for _, c := range []struct {
		method, url string
		headers     string
		code        int
	}{
		{"GET", page.URL + x, "", 200},
		{"GET", page.URL + "/", "", 200},
		{"GET", page.URL + "/ui/", "", 200},
		{"GET", page.URL + "/kubecascade/v1/lint", "", 200},
		{"GET", page.URL + "/kubecascade/v1/why?resource=configmaps&namespace=default&name=x&uid=other", "", 409},
		{"GET", page.URL + x + "?watch=true", "", 403},
		{"GET", page.URL + x + "/status", "", 403},
		{"GET", page.URL + "/api/v1/secrets", "", 403},
		{"GET", page.URL + "/api/v1/watch/secrets", "", 403},
		{"GET", page.URL + "/api/v1/watch/namespaces/default/secrets", "", 403},
		{"GET", page.URL + "/api/v1/namespaces/default/secrets", "", 403},
		{"GET", page.URL + "/api/v1/namespaces/default/configmaps/x%2F..%2Fy", "", 403},
		{"GET", page.URL + "/metrics", "", 403},
		{"GET", page.URL + "/api/v1/namespaces/default/events", "", 403},
		{"GET", page.URL + "/api/v1/namespaces/default/events?fieldSelector=involvedObject.uid%3Dx", "", 200},
		{"PUT", page.URL + x, "Content-Type: application/json", 403},
		{"DELETE", page.URL + "/api/v1/namespaces/default/configmaps", "Content-Type: application/json", 403},
		{"DELETE", page.URL + x, "", 415},
		{"DELETE", page.URL + x, "Content-Type: text/plain", 415},
		{"DELETE", page.URL + x, "Content-Type: application/json;Origin: http://evil.example", 403},
		{"DELETE", page.URL + x, "Content-Type: application/json;Sec-Fetch-Site: cross-site", 403},
		{"DELETE", page.URL + x, "Content-Type: application/json;Sec-Fetch-Site: same-site", 403},
		{"GET", page.URL + x, "Sec-Fetch-Site: cross-site;Sec-Fetch-Mode: no-cors", 403},
		{"GET", page.URL + x, "Host: evil.example", 403},
		{"GET", page.URL + render.RoutePrefix + "graph", "Origin: http://evil.example;Upgrade: websocket;Connection: Upgrade", 403},
		{"DELETE", readOnly.URL + x, "Content-Type: application/json", 403},
		{"DELETE", page.URL + x, "Content-Type: application/json;Sec-Fetch-Site: same-origin;Origin: " + page.URL, 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		for h := range strings.SplitSeq(c.headers, ";") {
			if name, value, _ := strings.Cut(h, ": "); name == "Host" {
				req.Host = value
			} else if name != "" {
				req.Header.Set(name, value)
			}
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.code || !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s %s (%s): %d, expected %d", c.method, c.url, c.headers, res.StatusCode, c.code)
		}
	}
}
