package main

import (
	"strings"
	"time"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/internal/backup"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/storage"
)

// options are serve's flags, with Kubernetes' names if there are any.
type options struct {
	kubecascade.Options
	declared []group
	// complete converts the values of the following flags to fields of Options.
	ephemeral, leaderElect, anonymous, page bool
	// gates has the feature gates by name, with unparsed values.
	gates          map[string]string
	maxMemory      string
	kubeconfigMode string
	readyFile      string
	verbosity      int
	logFormat      string
	// workers are the numbers of concurrent objects, by the name of the controller.
	workers map[string]*int
	// named has the values of --tls-sni-cert-key.
	named []cliflag.NamedCertKey
	// minRequestTimeout is in seconds.
	minRequestTimeout int
}

// group has flags under one title in --help.
type group struct {
	title string
	flags *pflag.FlagSet
}

func (o *options) groups() []group {
	set := func(title string, declare func(*pflag.FlagSet)) group {
		f := pflag.NewFlagSet(title, pflag.ContinueOnError)
		f.SortFlags = false
		declare(f)
		return group{title, f}
	}
	o.declared = []group{
		set("Addresses", o.addressFlags),
		set("Storage", o.storageFlags),
		set("Controllers", o.controllerFlags),
		set("Autoscaling", o.autoscalerFlags),
		set("Simulation", o.simulationFlags),
		set("Authentication and authorization", o.accessFlags),
		set("Audit", o.auditFlags),
		set("Admission", o.admissionFlags),
		set("Features", o.featureFlags),
		set("API", o.versionFlags),
		set("Services", o.serviceFlags),
		set("Limits", o.limitFlags),
		set("Logging", o.loggingFlags),
	}
	return o.declared
}

// addressFlags declares the flags of the server's addresses and certificates.
func (o *options) addressFlags(f *pflag.FlagSet) {
	f.IntVar(&o.Addresses.InsecurePort, "insecure-port", 8080,
		"port for plain HTTP; all its clients are administrators, as with kubectl proxy; 0 disables it, "+
			"-1 chooses a free port")
	f.StringVar(&o.Addresses.InsecureBindAddress, "insecure-bind-address", "127.0.0.1",
		"address for --insecure-port; must be a loopback address")
	f.IntVar(&o.Addresses.SecurePort, "secure-port", 6443,
		"port for HTTPS; clients authenticate with a certificate or a token; 0 chooses a free port")
	f.StringVar(&o.Addresses.BindAddress, "bind-address", "127.0.0.1", "address for --secure-port")
	f.StringSliceVar(&o.Addresses.Hosts, "tls-san", nil,
		"additional DNS names and IP addresses for the serving certificate, besides --bind-address and "+
			"localhost")
	f.StringVar(&o.Addresses.CertFile, "tls-cert-file", "",
		"file with the serving certificate and intermediate certificates (default a generated certificate in the "+
			"data directory)")
	f.StringVar(&o.Addresses.KeyFile, "tls-private-key-file", "", "file with the private key of --tls-cert-file")
	o.tlsFlags(f)
	f.StringVar(&o.Addresses.AdvertiseAddress, "advertise-address", "",
		"IPv4 address at which pods reach the server, for the endpoints of the service kubernetes; a loopback or "+
			"unspecified address is not published (default --bind-address)")
	f.StringVar(&o.Addresses.EndpointReconcilerType, "endpoint-reconciler-type", "lease",
		"how the endpoints of the service kubernetes are maintained: lease, master-count (the same as lease) or none")
	f.StringVar(&o.Addresses.ExternalHostname, "external-hostname", "",
		"DNS name or IP address by which other machines and containers reach the server, for the kubeconfig and the "+
			"serving certificate (default --bind-address)")
	f.StringVar(
		&o.Addresses.Kubeconfig, "kubeconfig-out", "",
		"file to write an administrator's kubeconfig to, in an existing directory (default admin.kubeconfig in "+
			"the data directory)",
	)
	f.StringVar(&o.kubeconfigMode, "kubeconfig-mode", "0600",
		"permissions of the kubeconfig, in octal; users who can read it are administrators")
	f.StringVar(&o.readyFile, "ready-file", "",
		"file to write when the server is ready: JSON with the process ID, versions, URLs, the path of the "+
			"kubeconfig and the CA certificate; it is written atomically, and removed when the server "+
			"begins to stop")
	f.BoolVar(&o.page, "ui", true, "serve the web UI, which shows the objects and their owners, at /ui/")
}

func (o *options) storageFlags(f *pflag.FlagSet) {
	f.StringVar(
		&o.Storage.Dir, "data-dir", "./kubecascade-data", "directory for the embedded etcd, certificates and keys",
	)
	f.BoolVar(&o.ephemeral, "ephemeral", false,
		"store all data in a temporary directory, without fsync, and delete it at exit")
	f.StringSliceVar(
		&o.Storage.Endpoints, "etcd-servers", nil, "URLs of an etcd cluster to use instead of the embedded etcd",
	)
	f.StringVar(&o.Storage.CAFile, "etcd-cafile", "", "file with the CA certificates of --etcd-servers")
	f.StringVar(&o.Storage.CertFile, "etcd-certfile", "", "file with the client certificate for --etcd-servers")
	f.StringVar(&o.Storage.KeyFile, "etcd-keyfile", "", "file with the private key of --etcd-certfile")
	f.StringVar(&o.Storage.Prefix, "etcd-prefix", "/registry",
		"prefix of all keys in etcd; with --from-snapshot the default is the prefix in the file")
	f.StringVar(&o.Storage.EncryptionProviderConfig, "encryption-provider-config", "", backup.EncryptionUsage)
	f.StringVar(&o.Storage.FromSnapshot, "from-snapshot", "",
		"`file` with an etcd snapshot, or a data directory, to serve instead of an empty store; it is not changed; "+
			"webhooks are not called; without --writable, writes are rejected and no controllers run")
	f.BoolVar(&o.Storage.Writable, "writable", false,
		"serve a copy of --from-snapshot that can be changed, in --data-dir if that is given; no controllers run by "+
			"default, --controllers enables them")
	f.DurationVar(&o.Storage.CompactionInterval, "etcd-compaction-interval", 5*time.Minute,
		"interval of compactions, which delete old revisions from etcd; 0 disables them")
	f.Int64Var(&o.Storage.QuotaBytes, "quota-backend-bytes", storage.DefaultQuota,
		"size limit of the embedded etcd's data; beyond it, objects can only be read and deleted")
	f.DurationVar(&o.Storage.EventTTL, "event-ttl", time.Hour, "time to live of Events")
}

func (o *options) controllerFlags(f *pflag.FlagSet) {
	o.electionFlags(f)
	f.StringSliceVar(&o.Controllers.Enabled, "controllers", []string{"*"},
		"controllers to run: '*' enables all that are on by default, 'name' enables one, '-name' disables "+
			"one, '"+controllers.None+"' disables all; "+
			controllers.Scheduler+" is on by default with --simulate-pods only; "+
			"the controllers are "+strings.Join(controllers.Names(), ", ")+
			"; names of kube-controller-manager's other controllers are accepted without "+
			"effect, and aliases like garbagecollector are accepted")
	f.BoolVar(&o.Controllers.CollectionEvents, "collection-events", false,
		"store an Event for each object that the garbage collector deletes, with its owner and the reason")
	o.workers = map[string]*int{}
	for _, c := range controllers.All() {
		if c.Flag != "" {
			o.workers[c.Name] = f.Int(c.Flag, c.Workers, "maximum number of "+c.What)
		}
	}
}

// simulationFlags declares the flags of simulated nodes and pods.
func (o *options) simulationFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.Simulation.Pods, "simulate-pods", false,
		"simulate a scheduler and a kubelet without running containers: pods are assigned to a node, "+
			"become Running and Ready, and terminate when they are deleted; pods of Jobs complete; the "+
			"annotation "+simulation.Annotation+" on a pod selects another outcome: pending, never-ready, run, "+
			"succeed, fail, oom, crashloop or imagepull")
	f.DurationVar(&o.Simulation.Delay, "simulate-pods-delay", 0,
		"duration of each step of --simulate-pods; the annotation "+simulation.AnnotationAfter+" on a pod "+
			"sets how long it runs")
	f.StringVar(&o.Simulation.Nodes, "simulate-nodes", "",
		"file with the Nodes for --simulate-pods, in YAML or JSON, with their labels, taints and capacity; they are "+
			"created if they are missing (default: a node with the name "+simulation.NodeName+")")
}

// serviceFlags declares the flags of the addresses and ports of services.
func (o *options) serviceFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Services.ClusterIPRange, "service-cluster-ip-range", "10.0.0.0/24",
		"CIDR from which IPv4 cluster IPs of services are allocated")
	f.StringVar(&o.Services.NodePortRange, "service-node-port-range", "30000-32767",
		"port range from which node ports of services are allocated")
	f.IntVar(&o.Services.KubernetesNodePort, "kubernetes-service-node-port", 0,
		"node port of the service kubernetes; 0 for none")
}

// limitFlags declares the flags that bound requests.
func (o *options) limitFlags(f *pflag.FlagSet) {
	f.IntVar(&o.Limits.MaxInFlight, "max-requests-inflight", apiserver.DefaultMaxInFlight,
		"maximum number of concurrent requests, except watches: this many for system:masters, and this "+
			"many for all other users; API Priority and Fairness divides the latter by flow schemas and "+
			"priority levels, queues requests, and rejects them with 429 if the queues are full")
	f.StringVar(&o.maxMemory, "max-memory-inflight", "0",
		"maximum `quantity` of memory for requests, of which one user has at most half; the memory of a request is "+
			"estimated from its body and from the objects in its response; requests beyond the limit wait, and are rejected "+
			"with 429 after 5 seconds; a request that needs more than half of the limit is rejected with 413; 0 selects "+
			"a quarter of the available memory "+
			"(the least of GOMEMLIMIT, the cgroup's limit and the machine's memory), but at least 256Mi, or "+
			"half of the memory if that is less; the minimum is 16Mi")
	f.DurationVar(&o.Limits.RequestTimeout, "request-timeout", apiserver.DefaultRequestTimeout,
		"maximum duration of a request, except watches, lists and deletions of collections")
	f.IntVar(&o.minRequestTimeout, "min-request-timeout", int(apiserver.DefaultMinWatch.Seconds()),
		"minimum number of seconds until the server ends a watch for which the client sets no timeout; the maximum is "+
			"twice as long")
	f.Float64Var(&o.Limits.GoawayChance, "goaway-chance", 0,
		"fraction of HTTP/2 requests after which the server closes the connection (GOAWAY), so that clients "+
			"reconnect, perhaps to another server behind a load balancer; maximum 0.02")
	f.DurationVar(&o.Limits.ShutdownDelay, "shutdown-delay-duration", 0,
		"how long to serve requests after SIGTERM or SIGINT, while /readyz fails")
	f.DurationVar(&o.Limits.ShutdownTimeout, "shutdown-timeout", 10*time.Second,
		"how long to wait for active requests at shutdown")
}

// loggingFlags declares the flags of the log and of profiles.
func (o *options) loggingFlags(f *pflag.FlagSet) {
	f.IntVarP(&o.verbosity, "v", "v", 0,
		"log level: 0 for warnings and errors, 1 for the actions of controllers as well, 4 for every "+
			"request as well")
	f.StringVar(&o.logFormat, "logging-format", "text", "log format: text or json")
	f.BoolVar(&o.Profiling, "profiling", false, "serve profiles for go tool pprof at /debug/pprof/")
}

// tlsFlags declares the flags of TLS besides those of the serving certificate.
func (o *options) tlsFlags(f *pflag.FlagSet) {
	f.Var(cliflag.NewNamedCertKeyArray(&o.named), "tls-sni-cert-key",
		"certificate and key for some host names, as certfile,keyfile or certfile,keyfile:name,name; without names, for "+
			"those of the certificate; earlier ones take precedence; may be repeated")
	f.StringVar(&o.Addresses.MinTLSVersion, "tls-min-version", "",
		"oldest accepted version of TLS: "+strings.Join(cliflag.TLSPossibleVersions(), ", ")+" (default VersionTLS12)")
	f.StringSliceVar(&o.Addresses.CipherSuites, "tls-cipher-suites", nil,
		"accepted cipher suites before TLS 1.3, by their names in Go (default those of Go)")
	f.Int32SliceVar(&o.Addresses.CurvePreferences, "tls-curve-preferences", nil,
		"accepted key exchange mechanisms, by their numbers as CurveID in Go")
	f.BoolVar(&o.Addresses.DisableHTTP2, "disable-http2-serving", false, "serve HTTP/1.1 only")
}

func (o *options) admissionFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.Admission.Enable, "enable-admission-plugins", nil,
		"admission plugins to enable in addition to the default ones: ServiceAccount, "+
			"OwnerReferencesPermissionEnforcement; names of kube-apiserver's other plugins are accepted without effect")
	f.StringSliceVar(&o.Admission.Disable, "disable-admission-plugins", nil,
		"admission plugins to disable; on by default are NamespaceLifecycle, LimitRanger, TaintNodesByCondition, "+
			"PodSecurity, Priority, DefaultTolerationSeconds, DefaultStorageClass, StorageObjectInUseProtection, "+
			"PersistentVolumeClaimResize, RuntimeClass, CertificateApproval, CertificateSigning, "+
			"ClusterTrustBundleAttest, CertificateSubjectRestriction, DefaultIngressClass, "+
			"NodeDeclaredFeatureValidator, MutatingAdmissionPolicy, MutatingAdmissionWebhook, "+
			"ValidatingAdmissionPolicy, ValidatingAdmissionWebhook, ResourceQuota")
}

func (o *options) featureFlags(f *pflag.FlagSet) {
	f.StringToStringVar(&o.gates, "feature-gates", map[string]string{},
		"`gates` of kube-apiserver as name=true or name=false. Only these have an effect: "+featuregates.Usage())
	f.BoolVar(&o.API.EnableFaults, "enable-faults", false,
		"serve /kubecascade/v1/faults, by which administrators inject faults into requests (kubecascade fault)")
}

func (o *options) versionFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.API.RuntimeConfig, "runtime-config", nil,
		"API versions and resources to enable or disable: <group>/<version>=true|false, "+
			"<group>/<version>/<resource>=true|false, or api/all, api/ga, api/beta, api/alpha for all versions of a "+
			"stage; disabled by default are "+strings.Join(resources.NotByDefault(), ", "))
}

func (o *options) electionFlags(f *pflag.FlagSet) {
	c := &o.Controllers
	f.BoolVar(&o.leaderElect, "leader-elect", false, "run the controllers only while holding the lease "+
		"kube-system/kube-controller-manager, so that only one of several servers with the same etcd runs them "+
		"(default true with --etcd-servers)")
	f.DurationVar(&c.LeaseDuration, "leader-elect-lease-duration", 15*time.Second,
		"how long other servers wait after the last renewal before they take over the lease")
	f.DurationVar(&c.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second,
		"how long a leader tries to renew its lease before it stops the controllers")
	f.DurationVar(&c.RetryPeriod, "leader-elect-retry-period", 2*time.Second,
		"interval between attempts to acquire or renew the lease")
}

func (o *options) autoscalerFlags(f *pflag.FlagSet) {
	a := &o.Controllers.Autoscaler
	f.DurationVar(&a.SyncPeriod, "horizontal-pod-autoscaler-sync-period", 15*time.Second,
		"time between two decisions about a HorizontalPodAutoscaler")
	f.DurationVar(&a.DownscaleStabilization, "horizontal-pod-autoscaler-downscale-stabilization", 5*time.Minute,
		"period in which earlier recommendations keep a HorizontalPodAutoscaler from scaling down below them")
	f.Float64Var(&a.Tolerance, "horizontal-pod-autoscaler-tolerance", 0.1,
		"how far the ratio of usage to target may deviate from 1 without scaling")
	f.DurationVar(&a.CPUInitializationPeriod, "horizontal-pod-autoscaler-cpu-initialization-period", 5*time.Minute,
		"time after the start of a pod in which its CPU counts only while it is ready")
	f.DurationVar(&a.InitialReadinessDelay, "horizontal-pod-autoscaler-initial-readiness-delay", 30*time.Second,
		"time after the start of a pod in which changes of its readiness count as initial readiness")
}
