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
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/simulation"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/embedded"
)

// options are serve's flags, with Kubernetes' names if there are any.
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
	audit            audit.Options
	admit, dontAdmit []string

	// gates are the feature gates by name, with unparsed values.
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

// group has flags under one title in --help.
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
			f.IntVar(&o.insecurePort, "insecure-port", 8080,
				"port for plain HTTP; all its clients are administrators, as with kubectl proxy; 0 disables it, "+
					"-1 chooses a free port")
			f.StringVar(&o.insecureAddress, "insecure-bind-address", "127.0.0.1",
				"address for --insecure-port; must be a loopback address")
			f.IntVar(&o.securePort, "secure-port", 6443,
				"port for HTTPS; clients authenticate with a certificate or a token; 0 chooses a free port")
			f.StringVar(&o.bindAddress, "bind-address", "127.0.0.1", "address for --secure-port")
			f.StringSliceVar(&o.hosts, "tls-san", nil,
				"additional DNS names and IP addresses for the serving certificate, besides --bind-address and "+
					"localhost")
			f.StringVar(
				&o.kubeconfig, "kubeconfig-out", "",
				"file to write an administrator's kubeconfig to (default admin.kubeconfig in the data directory)",
			)
		}),
		set("Storage", func(f *pflag.FlagSet) {
			f.StringVar(&o.dataDir, "data-dir", "./kubecascade-data", "directory for the embedded etcd, certificates and keys")
			f.BoolVar(&o.ephemeral, "ephemeral", false,
				"store all data in a temporary directory, without fsync, and delete it at exit")
			f.StringSliceVar(&o.etcd, "etcd-servers", nil, "URLs of an etcd cluster to use instead of the embedded etcd")
			f.StringVar(&o.etcdCA, "etcd-cafile", "", "file with the CA certificates of --etcd-servers")
			f.StringVar(&o.etcdCert, "etcd-certfile", "", "file with the client certificate for --etcd-servers")
			f.StringVar(&o.etcdKey, "etcd-keyfile", "", "file with the private key of --etcd-certfile")
			f.StringVar(&o.etcdPrefix, "etcd-prefix", "/registry", "prefix of all keys in etcd")
			f.DurationVar(&o.compaction, "etcd-compaction-interval", 5*time.Minute,
				"interval of compactions, which delete old revisions from etcd; 0 disables them")
			f.Int64Var(&o.quota, "quota-backend-bytes", storage.DefaultQuota,
				"size limit of the embedded etcd's data; beyond it, objects can only be read and deleted")
			f.DurationVar(&o.eventTTL, "event-ttl", time.Hour, "time to live of Events")
		}),
		set("Controllers", func(f *pflag.FlagSet) {
			o.leader.flags(f)
			f.StringSliceVar(&o.controllers, "controllers", []string{"*"},
				"controllers to run: '*' enables all that are on by default, 'name' enables one, '-name' disables "+
					"one, '"+noControllers+"' disables all; the controllers are "+strings.Join(controllerNames(), ", ")+
					"; "+strings.Join(ofAccounts, " and ")+" are on by default only with the admission plugin "+
					"ServiceAccount; names of kube-controller-manager's other controllers are accepted without "+
					"effect, and aliases like garbagecollector are accepted")
			f.IntVar(&o.gcSyncs, "concurrent-gc-syncs", 0,
				"maximum number of concurrent requests of the garbage collector; 0 chooses it automatically")
			f.IntVar(&o.nsSyncs, "concurrent-namespace-syncs", 10,
				"maximum number of namespaces whose content is deleted concurrently")
			f.IntVar(&o.quotaSyncs, "concurrent-resource-quota-syncs", 5,
				"maximum number of namespaces whose resource quotas are recalculated concurrently")
			o.syncs.flags(f)
		}),
		set("Simulation", func(f *pflag.FlagSet) {
			f.BoolVar(&o.simulatePods, "simulate-pods", false,
				"simulate a scheduler and a kubelet without running containers: pods are assigned to a node, "+
					"become Running and Ready, and terminate when they are deleted; pods of Jobs complete; the "+
					"annotation "+simulation.Annotation+" on a pod selects another outcome: pending, unready, run, "+
					"succeed or fail")
			f.DurationVar(&o.simulateDelay, "simulate-pods-delay", 0,
				"duration of each step of --simulate-pods; the annotation "+simulation.AnnotationAfter+" on a pod "+
					"sets how long it runs")
		}),
		set("Authentication and authorization", o.access.declare),
		set("Audit", o.auditFlags),
		set("Admission", o.admissionFlags),
		set("Features", o.featureFlags),
		set("API", o.versionFlags),
		set("Services", func(f *pflag.FlagSet) {
			f.StringVar(&o.serviceAddresses, "service-cluster-ip-range", allocate.DefaultAddresses,
				"CIDR from which IPv4 cluster IPs of services are allocated")
			f.StringVar(&o.servicePorts, "service-node-port-range", allocate.DefaultPorts,
				"port range from which node ports of services are allocated")
		}),
		set("Limits", func(f *pflag.FlagSet) {
			f.IntVar(&o.maxInFlight, "max-requests-inflight", 400,
				"maximum number of concurrent requests, except watches: this many for system:masters, and this "+
					"many for all other users; API Priority and Fairness divides the latter by flow schemas and "+
					"priority levels, queues requests, and rejects them with 429 if the queues are full")
			f.StringVar(&o.maxMemory, "max-memory-inflight", "0",
				"maximum `quantity` of memory for processing requests, besides their bodies; the memory of a "+
					"request is estimated from its body and from the objects in its response; requests beyond the "+
					"limit wait, and are rejected with 429 if they wait too long; a request that needs more than "+
					"three quarters of the limit is rejected with 413; 0 selects a quarter of the available memory "+
					"(the least of GOMEMLIMIT, the cgroup's limit and the machine's memory), or up to 256Mi if that "+
					"is at most half of it; the minimum is 16Mi")
			f.DurationVar(&o.requestTimeout, "request-timeout", 34*time.Second,
				"maximum duration of a request, except watches, lists and deletions of collections")
			f.DurationVar(&o.shutdownTimeout, "shutdown-timeout", 10*time.Second,
				"how long to wait for active requests at shutdown")
		}),
		set("Logging", func(f *pflag.FlagSet) {
			f.IntVarP(&o.verbosity, "v", "v", 0,
				"log level: 0 for warnings and errors, 1 for the actions of controllers as well, 4 for every "+
					"request as well")
			f.StringVar(&o.logFormat, "logging-format", "text", "log format: text or json")
			f.BoolVar(&o.profiling, "profiling", false, "serve profiles for go tool pprof at /debug/pprof/")
		}),
	}
}

// admissionFlags, featureFlags and versionFlags declare one group each.
func (o *options) admissionFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.admit, "enable-admission-plugins", nil,
		"admission plugins to enable in addition to the default ones, for example ServiceAccount; names of "+
			"kube-apiserver's other plugins are accepted without effect")
	f.StringSliceVar(&o.dontAdmit, "disable-admission-plugins", nil,
		"admission plugins to disable; on by default are NamespaceLifecycle, LimitRanger, TaintNodesByCondition, "+
			"PodSecurity, Priority, DefaultTolerationSeconds, DefaultStorageClass, StorageObjectInUseProtection, "+
			"OwnerReferencesPermissionEnforcement, PersistentVolumeClaimResize, RuntimeClass, CertificateApproval, "+
			"CertificateSigning, CertificateSubjectRestriction, DefaultIngressClass, MutatingAdmissionPolicy, "+
			"MutatingAdmissionWebhook, ValidatingAdmissionPolicy, ValidatingAdmissionWebhook, ResourceQuota")
}

func (o *options) featureFlags(f *pflag.FlagSet) {
	f.StringToStringVar(&o.gates, "feature-gates", map[string]string{},
		"`gates` as name=true or name=false: "+deleteMalformed+"=true allows users with the verb "+
			"unsafe-delete-ignore-read-errors to delete objects whose stored data can't be decoded, with the delete "+
			"option ignoreStoreReadErrorWithClusterBreakingPotential; lists with such an object then fail and report "+
			"its key instead of omitting it (alpha, default false)")
}

func (o *options) versionFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.runtimeConfig, "runtime-config", nil,
		"API versions and resources to enable or disable: <group>/<version>=true|false, "+
			"<group>/<version>/<resource>=true|false, or api/all, api/ga, api/beta, api/alpha for all versions of a "+
			"stage; disabled by default are "+strings.Join(resources.NotByDefault(), ", "))
}

// services parses the ranges of services.
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

// directory creates and locks the data directory, or with --ephemeral creates a temporary one. done releases it, and
// removes a temporary one.
func (o *options) directory() (done func(), err error) {
	if !o.ephemeral {
		if o.dataDir, err = filepath.Abs(o.dataDir); err != nil {
			return nil, fmt.Errorf("resolving --data-dir: %w", err)
		}
		lock, err := embedded.LockDir(o.dataDir)
		switch {
		case errors.Is(err, storage.ErrInUse):
			return nil, fmt.Errorf("--data-dir %s is used by another process", o.dataDir)
		case err != nil:
			return nil, fmt.Errorf("opening --data-dir: %w", err)
		}
		return func() { _ = lock.Close() }, nil // the file has no content to lose
	}
	o.dataDir, done, err = embedded.Temporary("")
	return done, err
}

// listen opens a port; the error names the flag for another one.
func listen(address string, port int, flag string) (net.Listener, error) {
	ln, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(max(port, 0))))
	if err != nil {
		return nil, fmt.Errorf("opening port %d (choose another with --%s): %w", port, flag, err)
	}
	return ln, nil
}
