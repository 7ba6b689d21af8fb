package server

import (
	"io/fs"
	"log/slog"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/internal/encryption"
	"github.com/kubecascade/kubecascade/storage"
)

// Config holds the parsed and validated settings of a Server. The zero value of a field whose comment
// names no default means none, or is rejected.
type Config struct {
	// Release is the version of this program.
	Release string
	ServingOptions
	StorageOptions
	// Controllers has all fields set; those of Autoscaler may be 0.
	Controllers controllers.Options
	// Simulate runs the simulation of nodes and pods. Start reads Simulation.Nodes from NodesFile; if it
	// is empty, there is one node.
	Simulate   bool
	Simulation simulation.Options
	NodesFile  string
	Access     apiserver.Access
	Audit      audit.Options
	// Serving has the pairs of --runtime-config.
	Serving []string
	// Gates are feature gates by name; default: those of kube-apiserver.
	Gates map[string]bool
	// API has the settings of admission, services, limits and documents. Start sets the other fields, and
	// MemoryInFlight if it is 0.
	API apiserver.Config
	// Memory is the number of bytes that the process may use; default: the least of GOMEMLIMIT, the limit of the
	// container and the memory of the machine.
	Memory int64
	Log    *slog.Logger
}

// ServingOptions are the settings of the ports.
type ServingOptions struct {
	// Secure is the port for HTTPS. Insecure is the one for plain HTTP: port 0 disables it, -1 chooses a free one.
	Secure, Insecure Address
	// Hosts are further DNS names and IP addresses for the serving certificate.
	Hosts []string
	// CertFile and KeyFile have the serving certificate and its key; default: a certificate that the authority
	// in the data directory issues.
	CertFile, KeyFile string
	// TLS has the other settings of the secure port; Start sets Clients.
	TLS pki.TLSOptions
	// Advertise is the address at which the members of the cluster reach the server, for the endpoints of the service
	// "kubernetes"; default: Secure's, if other machines can reach that. Endpoints reports whether the service
	// has it as an endpoint.
	Advertise string
	Endpoints bool
	// NodePort is the node port of the service "kubernetes"; 0 for none.
	NodePort int
	// ExternalHostname is the host of the kubeconfig's URL, and a name in the serving certificate; default: Secure's.
	ExternalHostname string
	// Kubeconfig is the file for an administrator's kubeconfig; default: admin.kubeconfig in the data directory.
	// KubeconfigMode has its permissions.
	Kubeconfig     string
	KubeconfigMode fs.FileMode
	// Shutdown is how long Stop waits for active requests. Before that, requests are still served for
	// Delay, while /readyz fails.
	Shutdown, Delay time.Duration
}

// StorageOptions are the settings of the store and its content.
type StorageOptions struct {
	// Dir is the data directory. Without it the server uses a temporary one, without fsync, and removes it at the end.
	Dir string
	// Of Storage only Root, QuotaBytes and the fields for external clusters are settings. Start sets the others.
	Storage storage.Config
	// Snapshot is the content of a new data directory; the zero value means no content.
	Snapshot Snapshot
	// EncryptionFile has the EncryptionConfiguration of stored values; empty for none. Start reads it.
	EncryptionFile string
	encryption     *encryption.Config
	// Compaction is the interval of compactions; 0 for none.
	Compaction time.Duration
}

// Address is an IP address and a port.
type Address struct {
	Host string
	Port int
}

// external reports whether the storage is an etcd cluster.
func (c *Config) external() bool { return len(c.Storage.Endpoints) > 0 }
