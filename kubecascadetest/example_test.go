package kubecascadetest_test

import (
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
