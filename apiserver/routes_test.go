package apiserver_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

var update = flag.Bool("update", false, "write testdata/routes.txt anew")

// TestRoutesEqualTheirList compares all routes with a golden file.
func TestRoutesEqualTheirList(t *testing.T) {
	s := apiservertest.Start(t, nil)
	methods := map[string][]string{}
	err := chi.Walk(s.API.Routes(), func(
		method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		methods[route] = append(methods[route], method)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	routes := make([]string, 0, len(methods))
	for r := range methods {
		routes = append(routes, r)
	}
	slices.Sort(routes)
	for _, r := range routes {
		slices.Sort(methods[r])
		fmt.Fprintf(&b, "%s: %s\n", r, strings.Join(methods[r], " "))
	}
	const golden = "testdata/routes.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("routes (-%s +now):\n%s", golden, diff)
	}
}

// TestPluginNames: every plugin is one of kube-apiserver's, and they run in the same order.
func TestPluginNames(t *testing.T) {
	last := -1
	for _, name := range apiservertest.Start(t, nil).API.Plugins() {
		i := slices.Index(admission.Names(), name)
		if i <= last {
			t.Errorf("%s is number %d of kube-apiserver's plugins, after number %d", name, i, last)
		}
		last = i
	}
}
