package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
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
	eventTTL   time.Duration

	controllers []string
	gcSyncs     int
	nsSyncs     int

	admit, dontAdmit []string

	maxInFlight     int
	requestTimeout  time.Duration
	shutdownTimeout time.Duration

	verbosity int
	logFormat string
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
			f.IntVar(&o.insecurePort, "insecure-port", 8080, "port for plain HTTP without authentication, as kubectl proxy gives; 0 turns it off, -1 picks a free one")
			f.StringVar(&o.insecureAddress, "insecure-bind-address", "127.0.0.1", "loopback address for --insecure-port")
			f.IntVar(&o.securePort, "secure-port", 6443, "port for HTTPS with client certificates; 0 picks a free one")
			f.StringVar(&o.bindAddress, "bind-address", "127.0.0.1", "address for --secure-port")
			f.StringSliceVar(&o.hosts, "tls-san", nil, "further names and addresses that the serving certificate is for")
			f.StringVar(&o.kubeconfig, "kubeconfig-out", "", "where to write a kubeconfig for an administrator (default \"admin.kubeconfig\" in the data directory)")
		}),
		set("Storage", func(f *pflag.FlagSet) {
			f.StringVar(&o.dataDir, "data-dir", "./kubecascade-data", "directory for the embedded etcd, certificates and keys")
			f.BoolVar(&o.ephemeral, "ephemeral", false, "keep everything in a temporary directory without waiting for the disk, and remove it at exit")
			f.StringSliceVar(&o.etcd, "etcd-servers", nil, "URLs of an external etcd cluster, in place of the embedded one")
			f.StringVar(&o.etcdCA, "etcd-cafile", "", "CA certificates of the external cluster")
			f.StringVar(&o.etcdCert, "etcd-certfile", "", "client certificate for the external cluster")
			f.StringVar(&o.etcdKey, "etcd-keyfile", "", "key of the client certificate")
			f.StringVar(&o.etcdPrefix, "etcd-prefix", "/registry", "prefix of all keys")
			f.DurationVar(&o.compaction, "etcd-compaction-interval", 5*time.Minute, "how often history is compacted; 0 never does")
			f.DurationVar(&o.eventTTL, "event-ttl", time.Hour, "how long Events are kept")
		}),
		set("Controllers", func(f *pflag.FlagSet) {
			f.StringSliceVar(&o.controllers, "controllers", []string{"*"}, "controllers to run: '*' all that are on by default, 'name' one more, '-name' one less; known: "+strings.Join(controllerNames(), ", "))
			f.IntVar(&o.gcSyncs, "concurrent-gc-syncs", 0, "requests that the garbage collector has in flight; 0 lets it choose")
			f.IntVar(&o.nsSyncs, "concurrent-namespace-syncs", 10, "namespaces that are emptied at the same time")
		}),
		set("Admission", func(f *pflag.FlagSet) {
			f.StringSliceVar(&o.admit, "enable-admission-plugins", nil, "plugins to run besides those that are on by default")
			f.StringSliceVar(&o.dontAdmit, "disable-admission-plugins", nil, "plugins not to run although they are on by default (NamespaceLifecycle, DefaultTolerationSeconds, Priority)")
		}),
		set("Limits", func(f *pflag.FlagSet) {
			f.IntVar(&o.maxInFlight, "max-requests-inflight", 400, "requests that are served at the same time, watches aside; more get 429")
			f.DurationVar(&o.requestTimeout, "request-timeout", 34*time.Second, "how long a request may take, lists and watches aside")
			f.DurationVar(&o.shutdownTimeout, "shutdown-timeout", 10*time.Second, "how long requests in flight may take to finish at shutdown")
		}),
		set("Logging", func(f *pflag.FlagSet) {
			f.IntVarP(&o.verbosity, "v", "v", 0, "0 warnings, 1 what the controllers do, 4 every request")
			f.StringVar(&o.logFormat, "logging-format", "text", "text or json")
		}),
	}
}

// complete checks what flags say together and fills in what follows from them.
func (o *options) complete(changed func(name string) bool) error {
	if o.insecurePort != 0 {
		if ip := net.ParseIP(o.insecureAddress); ip == nil || !ip.IsLoopback() {
			return fmt.Errorf("--insecure-bind-address %q is not a loopback address: whoever reaches that port is an administrator", o.insecureAddress)
		}
	}
	if net.ParseIP(o.bindAddress) == nil {
		return fmt.Errorf("--bind-address %q is not an IP address", o.bindAddress)
	}
	for flag, port := range map[string]int{"insecure-port": max(o.insecurePort, 0), "secure-port": o.securePort} {
		if port < 0 || port > 65535 {
			return fmt.Errorf("--%s %d is not a port", flag, port)
		}
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		return fmt.Errorf("--logging-format %q: text and json are known", o.logFormat)
	}
	if o.maxInFlight <= 0 {
		return errors.New("--max-requests-inflight must be positive")
	}
	switch {
	case o.ephemeral && len(o.etcd) > 0:
		return errors.New("--ephemeral and --etcd-servers exclude each other")
	case o.ephemeral && changed("data-dir"):
		return errors.New("--ephemeral and --data-dir exclude each other")
	}
	_, err := selectControllers(o.controllers)
	return err
}

// directory makes the data directory, or with --ephemeral a temporary one; done removes the latter.
func (o *options) directory() (done func(), err error) {
	if !o.ephemeral {
		if o.dataDir, err = filepath.Abs(o.dataDir); err == nil {
			err = os.MkdirAll(o.dataDir, 0o700)
		}
		if err != nil {
			return nil, fmt.Errorf("making --data-dir: %w", err)
		}
		return func() {}, nil
	}
	if o.dataDir, err = os.MkdirTemp("", "kubecascade-"); err != nil {
		return nil, fmt.Errorf("making a temporary directory: %w", err)
	}
	return func() { _ = os.RemoveAll(o.dataDir) }, nil // what can't be removed is the system's to clean
}

// listen opens a port; the error says which flag chooses another.
func listen(address string, port int, flag string) (net.Listener, error) {
	ln, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(max(port, 0))))
	if err != nil {
		return nil, fmt.Errorf("opening port %d (choose another with --%s): %w", port, flag, err)
	}
	return ln, nil
}
