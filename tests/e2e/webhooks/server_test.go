package webhooks

import (
	"os"
	"testing"

	"github.com/kubecascade/kubecascade/tests/process"
)

func TestMain(m *testing.M) { os.Exit(process.Run(m, nil)) }

// startServer starts a server, or shares one, and returns its administrator's kubeconfig. As in envtest, no controller
// of workloads runs.
func startServer(t *testing.T) string {
	t.Helper()
	return process.Start(
		t, "--authorization-mode=RBAC", "--controllers=garbage-collector-controller,namespace-controller").Kubeconfig
}
