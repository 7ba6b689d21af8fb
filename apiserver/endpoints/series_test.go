package endpoints_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// seriesOf returns the names and labels of the server's own series.
func seriesOf(t *testing.T, s *apiservertest.Server) (all []string) {
	t.Helper()
	for line := range strings.Lines(string(must(t, s.Do("GET", "/metrics", nil), http.StatusOK).Body)) {
		if strings.HasPrefix(line, "apiserver_") || strings.HasPrefix(line, "kubecascade_") {
			all = append(all, line[:strings.LastIndexByte(line, ' ')])
		}
	}
	return all
}

// TestLabelsAreBounded sends requests in which every part is new each time. No string that a client chooses is a label.
func TestLabelsAreBounded(t *testing.T) {
	s := apiservertest.Start(t, nil)
	send := func(i int) {
		x := fmt.Sprintf("x%d", i)
		for _, path := range []string{
			configmaps, configmaps + "/" + x, configmaps + "/a/" + x, configmaps + "/" + x + "?dryRun=" + x,
			"/api/v1/namespaces/" + x + "/pods", "/api/v1/namespaces/default/pods/" + x + "/proxy/" + x,
			"/api/v1/" + x, "/api/" + x + "/pods", "/apis/" + x + "/v1/pods", "/apis/apps/" + x + "/deployments",
			"/apis/apps/v1/" + x, "/" + x, "/healthz/" + x, "/openapi/v3/" + x, configmaps + "?timeout=" + x,
			configmaps + "?fieldManager=" + x + "&propagationPolicy=" + x + "&labelSelector=" + x,
		} {
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", strings.ToUpper(x)} {
				s.Do(method, path, "{"+x, "Content-Type", "application/"+x, "Accept", "application/json;as="+x+", */*",
					"User-Agent", x, "Audit-Id", x, "Impersonate-User", x)
			}
		}
	}
	send(0)
	want := seriesOf(t, s)
	for i := range 5 {
		send(i + 1)
	}
	if diff := cmp.Diff(want, seriesOf(t, s)); diff != "" {
		t.Errorf("series after more of the same requests, want -, got +:\n%s", diff)
	}
}
