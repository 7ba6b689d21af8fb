package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/internal/assets"
	"github.com/kubecascade/kubecascade/internal/kubeapiserver"
)

// controllersVariable is the environment variable that sets --controllers for one run as kube-apiserver.
const controllersVariable = "KUBECASCADE_CONTROLLERS"

// roleOf returns the name by which the program was started, without the directory and the extension .exe of Windows.
func roleOf(arg0 string) string { return strings.TrimSuffix(filepath.Base(arg0), ".exe") }

// etcdArguments returns the arguments of etcd's main function. A single member starts only after its election timeout,
// which is a second by default. etcdArguments sets the shortest timeout that etcd accepts, unless the user has
// configured it. It sets none if there are other members, because the network to them may be slow.
func etcdArguments(args []string, getenv func(string) string) []string {
	configured := getenv("ETCD_HEARTBEAT_INTERVAL") != "" || getenv("ETCD_ELECTION_TIMEOUT") != "" ||
		getenv("ETCD_INITIAL_CLUSTER") != "" || getenv("ETCD_DISCOVERY_ENDPOINTS") != ""
	for _, a := range args[1:] {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch name {
		case "heartbeat-interval", "election-timeout", "initial-cluster", "gateway", "grpc-proxy":
			configured = true
		}
		if strings.HasPrefix(name, "discovery") {
			configured = true
		}
	}
	if configured {
		return args
	}
	return append([]string{args[0], "--heartbeat-interval=10", "--election-timeout=50"}, args[1:]...)
}

// asEtcd runs etcd, and ends the process as etcd does.
func asEtcd(args []string) { etcdmain.Main(etcdArguments(args, os.Getenv)) }

// asAPIServer runs the server as kube-apiserver, and ends the process with exit code 1 after an error.
func asAPIServer(args []string) {
	if err := runAPIServer(untilSignal(context.Background()), args); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// runAPIServer runs the server with kube-apiserver's command line until ctx is done.
func runAPIServer(ctx context.Context, args []string) error {
	o, f, err := apiServerOptions(args[1:], os.Stdout)
	if errors.Is(err, kubeapiserver.ErrDone) {
		return nil
	}
	if err != nil {
		return err
	}
	if o.Controllers.Enabled, err = roleControllers(args[0], os.LookupEnv); err != nil {
		return err
	}
	if o.API.EnableFaults, err = strconv.ParseBool(cmp.Or(os.Getenv("KUBECASCADE_ENABLE_FAULTS"), "false")); err != nil {
		return fmt.Errorf("KUBECASCADE_ENABLE_FAULTS: %w", err)
	}
	if err := o.Check(); err != nil {
		return errors.Unwrap(err) // names flags
	}
	if err := errors.Join(f.EnsureCertificate(), f.ChooseAdvertiseAddress(utilnet.ResolveBindAddress)); err != nil {
		return err
	}
	o.Log = o.logger(os.Stderr)
	if without := f.Ineffective(); len(without) > 0 {
		o.Log.Warn("flags without effect", "flags", strings.Join(without, ","))
	}
	if len(f.Fading) > 0 {
		o.Log.Warn("feature gates that will be removed in a future release", "gates", strings.Join(f.Fading, ","))
	}
	return serve(ctx, o, os.Stderr)
}

// apiServerOptions returns the options of serve that correspond to kube-apiserver's arguments. There is no plain HTTP
// port, no controller, no leader election and no data directory.
func apiServerOptions(args []string, out io.Writer) (*options, *kubeapiserver.Flags, error) {
	o, all := &options{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
	for _, g := range o.groups() {
		all.AddFlagSet(g.flags)
	}
	f, err := kubeapiserver.New(all)
	if err != nil {
		return nil, nil, err
	}
	if err := f.Parse(args, kubecascade.KubernetesVersion, out); err != nil {
		return nil, nil, err
	}
	o.Addresses.InsecurePort, o.Controllers.Enabled = 0, nil
	changed := func(name string) bool { return name == "leader-elect" || f.Changed(name) }
	if err := o.complete(changed); err != nil {
		return nil, nil, err
	}
	o.Storage.Dir = ""
	return o, f, nil
}

// roleControllers returns the controllers that run with kube-apiserver: those of the environment variable, else those
// of the directory of the link by which the program was started, else none.
func roleControllers(arg0 string, lookup func(string) (string, bool)) ([]string, error) {
	if words, ok := lookup(controllersVariable); ok {
		return assets.Words(words), nil
	}
	if !strings.ContainsRune(arg0, filepath.Separator) { // found by PATH
		path, err := exec.LookPath(arg0)
		if err != nil {
			return nil, fmt.Errorf("finding the program's directory: %w", err)
		}
		arg0 = path
	}
	words, err := assets.ControllersOf(arg0)
	if words == nil {
		words = []string{} // none: nil means the default controllers
	}
	return words, err
}
