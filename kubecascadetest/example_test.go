package kubecascadetest_test

import (
	"os"
	"testing"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/kubecascadetest"
)

// A test has a server of its own, with a simulation of nodes, and waits for the controllers.
func ExampleNew() {
	_ = func(t *testing.T) { // func TestDeployment(t *testing.T)
		server := kubecascadetest.New(t, func(o *kubecascade.Options) { o.Simulation.Pods = true })
		config := server.Config() // for kubernetes.NewForConfig, client.New, ctrl.NewManager ...
		_ = config
		// Create a Deployment.
		if err := server.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Its pods run.
	}
}

// Tests share a server, and each begins with the objects that Prepare has created: at the end of a test the server is
// rolled back to them.
func ExampleShared() {
	var shared = kubecascadetest.Shared{Prepare: func(t testing.TB, s *kubecascade.Server) {
		// Create CustomResourceDefinitions, and all else that is costly.
	}}
	_ = func(m *testing.M) { // func TestMain(m *testing.M)
		os.Exit(kubecascadetest.Main(m, &shared))
	}
	_ = func(t *testing.T) { // func TestDeployment(t *testing.T)
		server := shared.Server(t)
		_ = server.Config()
	}
}
