package helm

import (
	"os"
	"testing"

	"github.com/kubecascade/kubecascade/tests/process"
)

func TestMain(m *testing.M) { os.Exit(process.Run(m, nil)) }

// controllers is the flag of the server.
const controllers = "--controllers=garbage-collector-controller,namespace-controller"

// startServer starts a server, or shares one, and returns its administrator's kubeconfig. No controller of workloads
// runs, so the test completes jobs, and deployments stay as the chart has them.
func startServer(t *testing.T) string {
	t.Helper()
	return process.Start(t, controllers).Kubeconfig
}
