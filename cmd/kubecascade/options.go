package main

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/storage"
)

// options are serve's flags, named as Kubernetes names them where it has them.
type options struct {
	insecureAddress string
	insecurePort    int
	bindAddress     string
	securePort      int
	hosts           []string
	kubeconfig      string

	dataDir    string
	ephemeral  bool
	etcd       []string
	etcdCA     string
	etcdCert   string
	etcdKey    string
	etcdPrefix string
	compaction time.Duration
	quota      int64
	eventTTL   time.Duration

	leader      leadership
	controllers []string
	gcSyncs     int
	nsSyncs     int
	quotaSyncs  int
	syncs       syncs

	simulatePods  bool
	simulateDelay time.Duration

	access           access
	admit, dontAdmit []string

	// gates are the feature gates by their names, as they were written.
	gates            map[string]string
	runtimeConfig    []string
	serviceAddresses string
	servicePorts     string

	maxInFlight     int
	maxMemory       string
	requestTimeout  time.Duration
	shutdownTimeout time.Duration

	verbosity int
	logFormat string
	profiling bool
}

// group is flags that belong together in --help.
type group struct {
	title string
	flags *pflag.FlagSet
}

// groups declares the flags.
func (o *options) groups() []group {
	set := func(title string, declare func(*pflag.FlagSet)) group {
		f := pflag.NewFlagSet(title, pflag.ContinueOnError)
		f.SortFlags = false
		declare(f)
		return group{title, f}
	}
	return []group{
		set("Addresses", func(f *pflag.FlagSet) {
			f.IntVar(&o.insecurePort, "insecure-port", 8080, "port for plain HTTP where everybody is an administrator, as behind kubectl proxy; 0 for none, -1 for any free one")
			f.StringVar(&o.insecureAddress, "insecure-bind-address", "127.0.0.1", "address for --insecure-port; only loopback addresses are taken")
			f.IntVar(&o.securePort, "secure-port", 6443, "port for HTTPS, where clients show a certificate or a token; 0 for any free one")
			f.StringVar(&o.bindAddress, "bind-address", "127.0.0.1", "address for --secure-port")
			f.StringSliceVar(&o.hosts, "tls-san", nil, "names and addresses for the serving certificate, besides --bind-address and localhost")
			f.StringVar(&o.kubeconfig, "kubeconfig-out", "", "file to write an administrator's kubeconfig to (default admin.kubeconfig in the data directory)")
		}),
		set("Storage", func(f *pflag.FlagSet) {
			f.StringVar(&o.dataDir, "data-dir", "./kubecascade-data", "directory for the embedded etcd, certificates and keys")
			f.BoolVar(&o.ephemeral, "ephemeral", false, "keep everything in a temporary directory, don't wait for the disk, remove it all at exit")
			f.StringSliceVar(&o.etcd, "etcd-servers", nil, "URLs of an etcd cluster to use instead of the embedded etcd")
			f.StringVar(&o.etcdCA, "etcd-cafile", "", "file with the CA certificates of --etcd-servers")
			f.StringVar(&o.etcdCert, "etcd-certfile", "", "file with the client certificate to show to --etcd-servers")
			f.StringVar(&o.etcdKey, "etcd-keyfile", "", "file with the key of --etcd-certfile")
			f.StringVar(&o.etcdPrefix, "etcd-prefix", "/registry", "prefix of all keys in etcd")
			f.DurationVar(&o.compaction, "etcd-compaction-interval", 5*time.Minute, "how often old history is dropped from etcd; 0 for never")
			f.Int64Var(&o.quota, "quota-backend-bytes", storage.DefaultQuota, "how much of the embedded etcd's database may be in use; beyond that nothing can be created before something is deleted")
			f.DurationVar(&o.eventTTL, "event-ttl", time.Hour, "how long Events are kept")
		}),
		set("Controllers", func(f *pflag.FlagSet) {
			o.leader.flags(f)
			f.StringSliceVar(&o.controllers, "controllers", []string{"*"}, "controllers to run: '*' for all that are on by default, 'name' for one more, '-name' for one less, '"+noControllers+"' for none; there are "+strings.Join(controllerNames(), ", ")+"; "+strings.Join(ofAccounts, " and ")+" are on by default with the admission plugin ServiceAccount only; the names of kube-controller-manager's other controllers, and old names like garbagecollector, are taken, too")
			f.IntVar(&o.gcSyncs, "concurrent-gc-syncs", 0, "requests that the garbage collector has in flight at most; 0 lets it choose")
			f.IntVar(&o.nsSyncs, "concurrent-namespace-syncs", 10, "namespaces that are emptied at the same time at most")
			f.IntVar(&o.quotaSyncs, "concurrent-resource-quota-syncs", 5, "namespaces whose resource quotas are counted at the same time at most")
			o.syncs.flags(f)
		}),
		set("Simulation", func(f *pflag.FlagSet) {
			f.BoolVar(&o.simulatePods, "simulate-pods", false, "do for pods what a scheduler and kubelets would, without running anything: assign them to a node, let them be Running and Ready and those of Jobs complete, finish graceful deletions; the annotation "+simulation.Annotation+" of a pod asks for something else: pending, unready, run, succeed or fail")
			f.DurationVar(&o.simulateDelay, "simulate-pods-delay", 0, "how long each of these steps takes; the annotation "+simulation.AnnotationAfter+" says so for how long a pod runs")
		}),
		set("Access", o.access.declare),
		set("Admission", o.admissionFlags),
		set("Features", o.featureFlags),
		set("API", o.versionFlags),
		set("Services", func(f *pflag.FlagSet) {
			f.StringVar(&o.serviceAddresses, "service-cluster-ip-range", allocate.DefaultAddresses, "range of IPv4 addresses that services are given cluster IPs of")
			f.StringVar(&o.servicePorts, "service-node-port-range", allocate.DefaultPorts, "range of ports that services are given node ports of")
		}),
		set("Limits", func(f *pflag.FlagSet) {
			f.IntVar(&o.maxInFlight, "max-requests-inflight", 400, "requests that are served at the same time, watches aside: as many of system:masters, and as many of all others, which share them by flow schemas and priority levels, wait in fair queues, and are answered with 429 if these are full")
			f.StringVar(&o.maxMemory, "max-memory-inflight", "0", "`quantity` of memory that requests may take, besides their bodies, as estimated from these and from the objects that an answer is made of: beyond it requests wait, and are answered with 429 if that takes too long; a request that alone is more than three quarters of it is answered with 413; 0 for a quarter of the memory that there is (GOMEMLIMIT, the limit of the control group, the machine's), or up to 256Mi if that is no more than half; at least 16Mi")
			f.DurationVar(&o.requestTimeout, "request-timeout", 34*time.Second, "how long a write may take")
			f.DurationVar(&o.shutdownTimeout, "shutdown-timeout", 10*time.Second, "how long to wait at shutdown for requests in flight")
		}),
		set("Logging", func(f *pflag.FlagSet) {
			f.IntVarP(&o.verbosity, "v", "v", 0, "what to log: 0 for warnings, 1 for what the controllers do too, 4 for every request")
			f.StringVar(&o.logFormat, "logging-format", "text", "how to log: text or json")
			f.BoolVar(&o.profiling, "profiling", false, "serve profiles of the process, for go tool pprof, below /debug/pprof/")
		}),
	}
}

// admissionFlags, featureFlags and versionFlags declare a group each.
func (o *options) admissionFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.admit, "enable-admission-plugins", nil, "plugins to run besides those that are on by default; ServiceAccount is not; kube-apiserver's other plugins are taken without effect")
	f.StringSliceVar(&o.dontAdmit, "disable-admission-plugins", nil, "plugins not to run; on by default are NamespaceLifecycle, LimitRanger, TaintNodesByCondition, PodSecurity, Priority, DefaultTolerationSeconds, DefaultStorageClass, StorageObjectInUseProtection, OwnerReferencesPermissionEnforcement, PersistentVolumeClaimResize, RuntimeClass, CertificateApproval, CertificateSigning, CertificateSubjectRestriction, DefaultIngressClass, ResourceQuota")
}

func (o *options) featureFlags(f *pflag.FlagSet) {
	f.StringToStringVar(&o.gates, "feature-gates", map[string]string{}, "`gates` as name=true or name=false: "+deleteMalformed+"=true lets users with the verb unsafe-delete-ignore-read-errors delete objects whose stored values can't be read, with the delete option ignoreStoreReadErrorWithClusterBreakingPotential; lists that meet such an object then fail with its key instead of leaving it out (alpha, default false)")
}

func (o *options) versionFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.runtimeConfig, "runtime-config", nil, "versions to serve or not to serve, in pairs: <group>/<version>=true|false, <group>/<version>/<resource>=true|false, or for all of a kind api/all, api/ga, api/beta, api/alpha; not served by default are "+strings.Join(resources.NotByDefault(), ", "))
}

// services reads what services are given.
func (o *options) services() (allocate.Ranges, error) {
	a, err := allocate.ParseAddresses(o.serviceAddresses)
	if err != nil {
		return allocate.Ranges{}, fmt.Errorf("--service-cluster-ip-range: %w", err)
	}
	p, err := allocate.ParsePorts(o.servicePorts)
	if err != nil {
		return allocate.Ranges{}, fmt.Errorf("--service-node-port-range: %w", err)
	}
	return allocate.Ranges{Addresses: a, Ports: p}, nil
}

// directory makes the data directory and takes it for this process, or with --ephemeral makes a
// temporary one. done gives it back, and removes it if it is temporary.
func (o *options) directory() (done func(), err error) {
	if !o.ephemeral {
		if o.dataDir, err = filepath.Abs(o.dataDir); err != nil {
			return nil, fmt.Errorf("making --data-dir: %w", err)
		}
		lock, err := storage.LockDir(o.dataDir)
		switch {
		case errors.Is(err, storage.ErrInUse):
			return nil, fmt.Errorf("--data-dir %s is used by another process", o.dataDir)
		case err != nil:
			return nil, fmt.Errorf("opening --data-dir: %w", err)
		}
		return func() { _ = lock.Close() }, nil // the file only says that it is locked
	}
	o.dataDir, done, err = storage.Temporary("")
	return done, err
}

// listen opens a port; the error says which flag chooses another.
func listen(address string, port int, flag string) (net.Listener, error) {
	ln, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(max(port, 0))))
	if err != nil {
		return nil, fmt.Errorf("opening port %d (choose another with --%s): %w", port, flag, err)
	}
	return ln, nil
}
