package loopback_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// quiet fails the test for each line of the log that is a warning or worse.
type quiet struct {
	slog.Handler
	t *testing.T
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		q.t.Errorf("logged at a clean start: %s", r.Message)
	}
	return q.Handler.Handle(ctx, r)
}

func quietLog(t *testing.T) *slog.Logger {
	return slog.New(quiet{slog.NewTextHandler(t.Output(), nil), t})
}

// begin makes what a server makes at its start, in the order of cmd/kubecascade.
func begin(t *testing.T, s *apiservertest.Server) {
	ctx := t.Context()
	if err := controllers.EnsureSystemNamespaces(ctx, client(s)("", "kube-apiserver"), quietLog(t)); err != nil {
		t.Error(err)
	}
	if err := s.API.EnsureRoles(ctx); err != nil {
		t.Error(err)
	}
	if err := s.API.EnsureFirst(ctx, bootstrap.Options{SecurePort: 6443}); err != nil {
		t.Error(err)
	}
}

// TestServersStartTogether starts four servers over one empty store at the same time. They make everything once,
// without a warning.
func TestServersStartTogether(t *testing.T) {
	store := storagetest.Open(t)
	var servers []*apiservertest.Server
	for range 4 {
		configure := func(c *apiserver.Config) { c.Log, c.Modes = quietLog(t), []string{"RBAC"} }
		servers = append(servers, apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: configure}))
	}
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { begin(t, s) })
	}
	all.Wait()
	want := bootstrap.DefaultRoles()
	for _, s := range servers {
		for path, n := range map[string]int{
			"/api/v1/namespaces": 4, "/api/v1/services": 1, "/apis/scheduling.k8s.io/v1/priorityclasses": 2,
			rbacPath + "/clusterroles": len(want.ClusterRoles), rbacPath + "/clusterrolebindings": len(want.ClusterRoleBindings),
			rbacPath + "/roles": len(want.Roles), rbacPath + "/rolebindings": len(want.RoleBindings),
		} {
			list := s.Do("GET", path, nil).List()
			if len(list.Items) != n {
				t.Errorf("%d objects in %s, want %d", len(list.Items), path, n)
			}
		}
		checkKubernetes(t, s)
	}
}

const rbacPath = "/apis/rbac.authorization.k8s.io/v1"

// checkKubernetes: the service has the first address of the range, which no other service is given.
func checkKubernetes(t *testing.T, s *apiservertest.Server) {
	t.Helper()
	const services = "/api/v1/namespaces/default/services"
	first := s.Do("GET", services+"/kubernetes", nil).Object()
	spec, _ := first.Object["spec"].(map[string]any)
	if spec["clusterIP"] != "10.0.0.1" {
		t.Errorf("spec of the service kubernetes: %v", spec)
	}
	second := `{"metadata":{"name":"second"},"spec":{"clusterIP":"10.0.0.1","ports":[{"port":80}]}}`
	if a := s.Do("POST", services, second); a.Code != http.StatusUnprocessableEntity {
		t.Errorf("a second service in the same address: %d %s", a.Code, a.Body)
	}
}

// TestServiceMadeByAnotherServer: between the look-up of the service kubernetes and its creation another server
// creates it, so that its address is taken.
func TestServiceMadeByAnotherServer(t *testing.T) {
	store := storagetest.Open(t)
	other := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.Log = quietLog(t)
	}})
	begun, meanwhile := false, sync.OnceFunc(func() { begin(t, other) })
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.Log = quietLog(t)
		c.Now = func() time.Time { // asked for the creationTimestamp, after the look-up
			if begun {
				meanwhile()
			}
			return time.Now()
		}
	}})
	begun = true
	if err := s.API.EnsureFirst(t.Context(), bootstrap.Options{SecurePort: 6443}); err != nil {
		t.Fatal(err)
	}
	checkKubernetes(t, s)
}
