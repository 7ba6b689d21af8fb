package kubecascade

import (
	"cmp"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime/debug"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/pki"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/faults"
	"github.com/kubecascade/kubecascade/internal/server"
	"github.com/kubecascade/kubecascade/storage"
)

// Options configure a server. The zero value is a server for a test. The tag of a field names its flag of "kubecascade
// serve", whose help has more details. A zero field has the default that its comment names. Flags have the same
// defaults, except for the ports, the data directory and logs.
type Options struct {
	Addresses   Addresses
	Storage     Storage
	Controllers Controllers
	Simulation  Simulation
	Access      Access
	// Audit configures the audit log. The zero value records nothing; to record, change a copy of audit.Defaults().
	Audit     audit.Options
	Admission Admission
	API       API
	Services  Services
	Limits    Limits
	// UI serves the page that shows the objects and their owners at /ui/; default true.
	UI *bool `flag:"ui"`
	// Profiling serves profiles of the process at /debug/pprof/.
	Profiling bool `flag:"profiling"`
	// Log receives the logs; nil discards them. Errors of libraries that log for the process (klog) are not in it.
	Log *slog.Logger `flag:"v,logging-format"`
	// SetVerbosity sets the verbosity of Log, as -v does, for clients of /debug/flags/v. That path is served with
	// Profiling; nil for none.
	SetVerbosity func(v int)
	// Release is the version of this program in /version; default: that of this module in the binary, or "devel".
	Release string
}

// Addresses are the addresses of the server.
type Addresses struct {
	// SecurePort is the port for HTTPS; 0 chooses a free one. BindAddress is its IP address; default 127.0.0.1.
	SecurePort  int    `flag:"secure-port"`
	BindAddress string `flag:"bind-address"`
	// InsecurePort is the port for plain HTTP, whose clients are administrators; 0 disables it, -1 chooses a free one.
	// InsecureBindAddress is its IP address, which must be a loopback address; default 127.0.0.1.
	InsecurePort        int    `flag:"insecure-port"`
	InsecureBindAddress string `flag:"insecure-bind-address"`
	// Hosts are DNS names and IP addresses for the serving certificate, besides BindAddress and localhost.
	Hosts []string `flag:"tls-san"`
	// CertFile and KeyFile are PEM files with the serving certificate and its key. They are read again when they change.
	// Default: a generated certificate in the data directory, which is renewed.
	CertFile string `flag:"tls-cert-file"`
	KeyFile  string `flag:"tls-private-key-file"`
	// NamedCertificates are serving certificates for clients that connect to some host names (SNI).
	NamedCertificates []NamedCertificate `flag:"tls-sni-cert-key"`
	// MinTLSVersion is the oldest accepted version of TLS: VersionTLS10 to VersionTLS13; default VersionTLS12.
	// CipherSuites are the accepted cipher suites of versions before TLS 1.3, by their names in Go; default: those of Go.
	// CurvePreferences are the accepted key exchange mechanisms, by their numbers; default: those of Go.
	MinTLSVersion    string   `flag:"tls-min-version"`
	CipherSuites     []string `flag:"tls-cipher-suites"`
	CurvePreferences []int32  `flag:"tls-curve-preferences"`
	// DisableHTTP2 serves HTTP/1.1 only.
	DisableHTTP2 bool `flag:"disable-http2-serving"`
	// AdvertiseAddress is the IPv4 address at which the members of the cluster reach the server. The endpoints of the
	// service "kubernetes" have it. Default: BindAddress. A loopback or unspecified address is not published.
	AdvertiseAddress string `flag:"advertise-address"`
	// EndpointReconcilerType is lease, master-count (which means the same here) or none; default lease. With none the
	// service "kubernetes" has no endpoints.
	EndpointReconcilerType string `flag:"endpoint-reconciler-type"`
	// ExternalHostname is the DNS name or IP address by which other machines and containers reach the server; the
	// kubeconfig and the serving certificate have it. Default: BindAddress.
	ExternalHostname string `flag:"external-hostname"`
	// Kubeconfig is the file to write an administrator's kubeconfig to; default: admin.kubeconfig in the data directory.
	// KubeconfigMode has its permissions; default 0600.
	Kubeconfig     string      `flag:"kubeconfig-out"`
	KubeconfigMode fs.FileMode `flag:"kubeconfig-mode"`
}

// NamedCertificate is a serving certificate for some host names.
type NamedCertificate = pki.NamedCertificate

// Storage chooses where the data is stored.
type Storage struct {
	// Dir is the directory for the embedded etcd, certificates and keys. Only one server at a time can use it. Without it
	// there is a temporary directory, without fsync, which Stop removes.
	Dir string `flag:"data-dir,ephemeral"`
	// Endpoints are URLs of an etcd cluster to use instead of the embedded etcd. CAFile, CertFile and KeyFile are PEM
	// files for the connection.
	Endpoints []string `flag:"etcd-servers"`
	CAFile    string   `flag:"etcd-cafile"`
	CertFile  string   `flag:"etcd-certfile"`
	KeyFile   string   `flag:"etcd-keyfile"`
	// FromSnapshot is the path of a snapshot or a data directory of etcd: a backup of a cluster, or a file of
	// SaveSnapshot. The server starts with its objects, and does not change the file. Without Writable all writes are
	// rejected (403), and Dir must not be set. Webhooks are not called, and there are no controllers unless
	// Controllers.Enabled names some, which needs Writable.
	FromSnapshot string `flag:"from-snapshot"`
	// Writable serves a copy of FromSnapshot that can be changed.
	Writable bool `flag:"writable"`
	// Prefix is the prefix of all keys in etcd; default /registry, or that of the cluster in FromSnapshot.
	Prefix string `flag:"etcd-prefix"`
	// EncryptionProviderConfig is a file with an EncryptionConfiguration (apiserver.config.k8s.io/v1) for stored
	// values. The provider kms can't be used. The file is read once.
	EncryptionProviderConfig string `flag:"encryption-provider-config"`
	// CompactionInterval is the interval of compactions; default 5 minutes, negative for none.
	CompactionInterval time.Duration `flag:"etcd-compaction-interval"`
	// QuotaBytes limits the size of the embedded etcd's data; default 8 GiB. It can't be set with Endpoints.
	QuotaBytes int64 `flag:"quota-backend-bytes"`
	// EventTTL is the time to live of Events; default 1 hour, minimum 1 second.
	EventTTL time.Duration `flag:"event-ttl"`
}

// Controllers configures the controllers.
type Controllers = controllers.Options

// Autoscaler configures horizontal-pod-autoscaler-controller.
type Autoscaler = controllers.Autoscaler

// Simulation configures a scheduler and kubelets without containers.
type Simulation struct {
	// Pods assigns pods to a simulated node, where they become Running and Ready. Delay is the duration of each step.
	Pods  bool          `flag:"simulate-pods"`
	Delay time.Duration `flag:"simulate-pods-delay"`
	// Nodes is a file with Nodes in YAML or JSON, which are created if they are missing; default: the node "simulated".
	Nodes string `flag:"simulate-nodes"`
}

// Access configures authentication and authorization.
type Access = apiserver.Access

// RequestHeader configures proxies that may name the user of a request in headers.
type RequestHeader = apiserver.RequestHeader

// Kubelets configures the connections to kubelets.
type Kubelets = apiserver.Kubelets

// FrontProxy has the client certificate that authenticates the server to the servers of APIServices.
type FrontProxy = apiserver.FrontProxy

// Admission switches admission plugins on or off.
type Admission struct {
	Enable  []string `flag:"enable-admission-plugins"`
	Disable []string `flag:"disable-admission-plugins"`
}

// API chooses the versions, resources and features of the API.
type API struct {
	// RuntimeConfig enables or disables versions and resources: "apps/v1=false", "api/beta=true".
	RuntimeConfig []string `flag:"runtime-config"`
	// Flags are the names and values that /flagz shows; nil does not serve it.
	Flags map[string]string
	// FeatureGates are kube-apiserver's, by name. Those that have an effect are the keys of the function FeatureGates.
	FeatureGates map[string]bool `flag:"feature-gates"`
	// EnableFaults serves /kubecascade/v1/faults, with which clients add plans of faults. Server.Faults needs no option.
	EnableFaults bool `flag:"enable-faults"`
}

// Services has the ranges from which Services get addresses and ports.
type Services struct {
	// ClusterIPRange is a CIDR of IPv4 addresses; default 10.0.0.0/24. NodePortRange has the form of its default,
	// 30000-32767.
	ClusterIPRange string `flag:"service-cluster-ip-range"`
	NodePortRange  string `flag:"service-node-port-range"`
	// KubernetesNodePort is the node port of the service "kubernetes"; 0 for none.
	KubernetesNodePort int `flag:"kubernetes-service-node-port"`
}

// Limits limits the resources of the server that clients can use.
type Limits struct {
	// MaxInFlight is the maximum number of concurrent requests, except watches, of administrators. All other users
	// together have the same number. Default 400.
	MaxInFlight int `flag:"max-requests-inflight"`
	// MaxMemoryInFlight is the number of bytes that requests may use; those of one user may use half of it. Minimum
	// 16 MiB. Default: a quarter of ProcessMemory, but at least 256 MiB or half of ProcessMemory, the smaller of both.
	MaxMemoryInFlight int64 `flag:"max-memory-inflight"`
	// ProcessMemory is the number of bytes that the process may use; default: the least of GOMEMLIMIT, the cgroup's
	// limit and the machine's memory.
	ProcessMemory int64
	// RequestTimeout is the maximum duration of a request, except watches, lists and deletions of collections; default
	// 34 s, minimum 1 ms.
	RequestTimeout time.Duration `flag:"request-timeout"`
	// MinRequestTimeout is the minimum duration of a watch for which the client sets none; the maximum is twice as long.
	// Default 30 minutes; negative ends such a watch at once.
	MinRequestTimeout time.Duration `flag:"min-request-timeout"`
	// GoawayChance is the fraction of requests over HTTP/2 after which the server closes the connection; default 0,
	// maximum 0.02.
	GoawayChance float64 `flag:"goaway-chance"`
	// ShutdownDelay is the time for which Stop still serves requests, while /readyz fails, before it ends watches;
	// default 0.
	ShutdownDelay time.Duration `flag:"shutdown-delay-duration"`
	// ShutdownTimeout is the time for which Stop waits for active requests; default 10 s, negative for no wait.
	ShutdownTimeout time.Duration `flag:"shutdown-timeout"`
}

// config returns the parsed and validated options, with defaults. Errors name flags.
func (o Options) config() (c server.Config, err error) {
	c = server.Config{
		Release:        cmp.Or(o.Release, release()),
		StorageOptions: o.Storage.options(),
		Controllers:    o.Controllers,
		Access:         o.Access,
		Audit:          o.Audit, Serving: o.API.RuntimeConfig, Gates: o.API.FeatureGates,
		Memory: o.Limits.ProcessMemory, Log: o.Log,
	}
	c.Simulate, c.NodesFile, c.Simulation.Delay = o.Simulation.Pods, o.Simulation.Nodes, o.Simulation.Delay
	c.Access.Issuers = orDefault(o.Access.Issuers, "https://kubernetes.default.svc")
	c.Access.Modes = orDefault(o.Access.Modes, "AlwaysAllow")
	if c.Controllers.Enabled == nil && c.Snapshot.File == "" {
		c.Controllers.Enabled = []string{"*"}
	}
	c.Controllers.LeaderElect = new(ptr.Deref(c.Controllers.LeaderElect, len(o.Storage.Endpoints) > 0))
	c.Controllers.LeaseDuration = cmp.Or(c.Controllers.LeaseDuration, 15*time.Second)
	c.Controllers.RenewDeadline = cmp.Or(c.Controllers.RenewDeadline, 10*time.Second)
	c.Controllers.RetryPeriod = cmp.Or(c.Controllers.RetryPeriod, 2*time.Second)
	if c.Audit == (audit.Options{}) {
		c.Audit = audit.Defaults()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.ServingOptions, err = o.serving(); err != nil {
		return c, err
	}
	if c.API, err = o.api(); err != nil {
		return c, err
	}
	return c, (*settings)(&c).check()
}

// serving returns the settings of the ports.
func (o Options) serving() (c server.ServingOptions, err error) {
	a := &o.Addresses
	c = server.ServingOptions{
		Secure:   server.Address{Host: cmp.Or(a.BindAddress, loopback), Port: a.SecurePort},
		Insecure: server.Address{Host: cmp.Or(a.InsecureBindAddress, loopback), Port: a.InsecurePort},
		CertFile: a.CertFile, KeyFile: a.KeyFile, Hosts: a.Hosts, ExternalHostname: a.ExternalHostname,
		Advertise: a.AdvertiseAddress, NodePort: o.Services.KubernetesNodePort,
		Kubeconfig: a.Kubeconfig, KubeconfigMode: cmp.Or(a.KubeconfigMode, 0o600),
		Shutdown: orNone(o.Limits.ShutdownTimeout, 10*time.Second), Delay: o.Limits.ShutdownDelay,
	}
	if c.TLS, err = a.tls(); err != nil {
		return c, err
	}
	c.Endpoints, err = a.endpoints()
	return c, err
}

// tls parses the settings of TLS as kube-apiserver does (component-base cli/flag).
func (a *Addresses) tls() (o pki.TLSOptions, err error) {
	if a.MinTLSVersion != "" {
		if o.MinVersion, err = cliflag.TLSVersion(a.MinTLSVersion); err != nil {
			return o, fmt.Errorf("--tls-min-version: %w", err)
		}
	}
	if o.CipherSuites, err = cliflag.TLSCipherSuites(a.CipherSuites); err != nil {
		return o, fmt.Errorf("--tls-cipher-suites: %w", err)
	}
	if o.Curves, err = cliflag.TLSCurvePreferences(a.CurvePreferences); err != nil {
		return o, fmt.Errorf("--tls-curve-preferences: %w", err)
	}
	o.Named, o.HTTP1 = a.NamedCertificates, a.DisableHTTP2
	return o, nil
}

// endpoints reports whether the service "kubernetes" has endpoints.
func (a *Addresses) endpoints() (bool, error) {
	switch t := a.EndpointReconcilerType; t {
	case "", "lease", "master-count":
		return true, nil
	case "none":
		return false, nil
	default:
		return false, fmt.Errorf("--endpoint-reconciler-type %q is not lease, master-count or none", t)
	}
}

// api returns the settings of the API server.
func (o Options) api() (c apiserver.Config, err error) {
	c = apiserver.Config{
		AdmissionOptions: apiserver.AdmissionOptions{
			EnableAdmission: o.Admission.Enable, DisableAdmission: o.Admission.Disable,
		},
		Limits: apiserver.Limits{
			MaxInFlight:    cmp.Or(o.Limits.MaxInFlight, apiserver.DefaultMaxInFlight),
			MemoryInFlight: o.Limits.MaxMemoryInFlight,
			RequestTimeout: cmp.Or(o.Limits.RequestTimeout, apiserver.DefaultRequestTimeout),
			MinWatch:       o.Limits.MinRequestTimeout, GoawayChance: o.Limits.GoawayChance,
			EventTTL: cmp.Or(o.Storage.EventTTL, time.Hour),
		},
		Documents: apiserver.Documents{
			Page: ptr.Deref(o.UI, true), Profiling: o.Profiling, SetVerbosity: o.SetVerbosity, Flags: o.API.Flags,
			ServeFaults: o.API.EnableFaults,
		},
	}
	c.Faults = faults.New()
	c.Services.Addresses, err = allocate.ParseAddresses(cmp.Or(o.Services.ClusterIPRange, allocate.DefaultAddresses))
	if err != nil {
		return c, fmt.Errorf("--service-cluster-ip-range: %w", err)
	}
	c.Services.Ports, err = allocate.ParsePorts(cmp.Or(o.Services.NodePortRange, allocate.DefaultPorts))
	if err != nil {
		return c, fmt.Errorf("--service-node-port-range: %w", err)
	}
	return c, nil
}

func (s Storage) options() server.StorageOptions {
	c := storage.Config{
		Endpoints: s.Endpoints, CAFile: s.CAFile, CertFile: s.CertFile, KeyFile: s.KeyFile,
		Root: cmp.Or(s.Prefix, storage.DefaultRoot), QuotaBytes: s.QuotaBytes,
	}
	if c.QuotaBytes == 0 && len(s.Endpoints) == 0 {
		c.QuotaBytes = storage.DefaultQuota
	}
	return server.StorageOptions{
		Dir: s.Dir, Storage: c, EncryptionFile: s.EncryptionProviderConfig,
		Snapshot:   server.Snapshot{File: s.FromSnapshot, Writable: s.Writable, Prefix: s.Prefix},
		Compaction: orNone(s.CompactionInterval, 5*time.Minute),
	}
}

const loopback = "127.0.0.1"

// orNone returns d, the default if d is 0, or 0 if d is negative.
func orNone(d, otherwise time.Duration) time.Duration { return max(cmp.Or(d, otherwise), 0) }

func orDefault(list []string, otherwise string) []string {
	if len(list) == 0 {
		return []string{otherwise}
	}
	return list
}

// module is the path of this module.
const module = "github.com/kubecascade/kubecascade"

// release returns the version of this module in the binary.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range append(info.Deps, &info.Main) {
			if d.Path == module && d.Version != "" && d.Version != "(devel)" {
				return d.Version
			}
		}
	}
	return "devel"
}
