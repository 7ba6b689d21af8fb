package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWaitSettledElsewhere: a server that is not kubecascade gives no result.
func TestWaitSettledElsewhere(t *testing.T) {
	for _, c := range []struct {
		code       int
		body, want string
	}{
		{404, `{"kind":"Status","message":"the server could not find the requested resource"}`, "it is not kubecascade"},
		{403, `{"kind":"Status","message":"forbidden: User \"x\" cannot get path"}`, `forbidden: User "x" cannot get path`},
		{502, "bad gateway", "502 Bad Gateway"},
		{200, "<html>", "did not answer"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.code)
			_, _ = w.Write([]byte(c.body))
		}))
		t.Setenv("KUBECONFIG", "")
		command := root()
		command.SetArgs([]string{"wait-settled", "--server", s.URL})
		err := command.ExecuteContext(t.Context())
		s.Close()
		if err == nil || exitCode(err) != 2 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: exit code %d, %v", c.code, exitCode(err), err)
		}
	}
}
