package kubecascadetest_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/kubecascadetest"
)

var prepared = 0

// shared is a server with an owner and its dependents.
var shared = kubecascadetest.Shared{
	Options: func(o *kubecascade.Options) { o.Simulation.Pods = true },
	Prepare: func(t testing.TB, s *kubecascade.Server) {
		prepared++
		c := newClient(t, s)
		c.do(http.MethodPost, "/apis/apps/v1/namespaces/default/deployments", deployment, 201)
		settle(t, s)
	},
}

func TestMain(m *testing.M) { os.Exit(kubecascadetest.Main(m, &shared)) }

// TestSharedServerBeginsEachTestWithTheSameState: tests that change the same objects each begin with the same state,
// also if they run in parallel.
func TestSharedServerBeginsEachTestWithTheSameState(t *testing.T) {
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if i >= 4 {
				t.Parallel()
			}
			s := shared.Server(t)
			if n := s.Faults().Report().Total; n > 0 {
				t.Errorf("%d faults of another test", n)
			}
			kubecascadetest.AddFaults(t, s, "rules: [{match: {verbs: [create]}, effect: {delay: 1ns}}]")
			c := newClient(t, s)
			c.do(http.MethodPost, maps, `{"metadata":{"name":"mine"}}`, 201)
			for _, name := range []string{"", "mine"} { // checkpoints of a test are not the beginning of the next one
				if err := s.Checkpoint(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
			if ahead := time.Until(s.Now()); ahead > time.Hour {
				t.Errorf("the clock is %v ahead", ahead)
			}
			if pods := c.do(http.MethodGet, "/api/v1/namespaces/default/pods", "", 200); strings.Count(pods, `"Running"`) != 3 {
				t.Errorf("the pods: %s", pods)
			}
			c.do(http.MethodDelete, "/apis/apps/v1/namespaces/default/deployments/d", "", 200)
			if i%2 == 0 {
				settle(t, s)
				if pods := c.do(http.MethodGet, "/api/v1/namespaces/default/pods", "", 200); strings.Contains(pods, `"uid"`) {
					t.Errorf("left: %s", pods)
				}
			}
			if err := s.Advance(48 * time.Hour); err != nil {
				t.Error(err)
			}
			t.Run("part", func(t *testing.T) {
				newClient(t, shared.Server(t)).do(http.MethodGet, maps+"/mine", "", 200)
			})
		})
	}
	t.Run("once", func(t *testing.T) {
		if prepared != 1 {
			t.Errorf("the server was prepared %d times", prepared)
		}
	})
}

// TestSharedFailures: a test whose server can't start or can't be prepared fails, and so does the next one.
func TestSharedFailures(t *testing.T) {
	broken := kubecascadetest.Shared{Options: func(o *kubecascade.Options) { o.Addresses.BindAddress = "here" }}
	unprepared := kubecascadetest.Shared{Prepare: func(t testing.TB, _ *kubecascade.Server) { t.Fatalf("not prepared") }}
	lasting := kubecascadetest.Shared{Options: func(o *kubecascade.Options) { o.Storage.Dir = t.TempDir() }}
	for want, s := range map[string]*kubecascadetest.Shared{
		"Options.Addresses.BindAddress": &broken, "not prepared": &unprepared, "Options.Storage.Dir": &lasting,
	} {
		for range 2 {
			r := &recorded{TB: t}
			r.run(func(t testing.TB) {
				s.Server(t)
				t.Errorf("the test continues")
			})
			if !strings.Contains(r.fatal, want) {
				t.Errorf("failed with %q, want %q", r.fatal, want)
			}
		}
	}
}
