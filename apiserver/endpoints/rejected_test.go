package endpoints_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestRejectedAreCounted: a request that is rejected before its handler has the labels of its resource in the metrics.
func TestRejectedAreCounted(t *testing.T) {
	s := apiservertest.Start(t, nil)
	must(t, s.Do("POST", configmaps, strings.Repeat(" ", 3<<20+1)), http.StatusRequestEntityTooLarge)
	must(t, s.Do("GET", configmaps+"?timeout=1ns", nil), http.StatusGatewayTimeout)
	must(t, s.Do("GET", configmaps+"?timeout=x", nil), http.StatusBadRequest)
	text := string(must(t, s.Do("GET", "/metrics", nil), http.StatusOK).Body)
	for _, c := range [][2]string{{"413", "POST"}, {"504", "LIST"}, {"400", "LIST"}} {
		found := false
		for line := range strings.Lines(text) {
			found = found || strings.HasPrefix(line, "apiserver_request_total{") && strings.Contains(line, `code="`+c[0]+`"`) &&
				strings.Contains(line, `verb="`+c[1]+`"`) && strings.Contains(line, `resource="configmaps"`)
		}
		if !found {
			t.Errorf("%s %s is not counted", c[1], c[0])
		}
	}
}
