package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

// roleOf returns the name by which the program was started, without the directory and the extension .exe of Windows.
func roleOf(arg0 string) string { return strings.TrimSuffix(filepath.Base(arg0), ".exe") }

// asEtcd runs etcd, and ends the process as etcd does.
func asEtcd(args []string) { etcdmain.Main(assets.EtcdArguments(args, os.Getenv)) }

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
	if o.Controllers.Enabled, err = assets.ControllersOf(args[0], os.LookupEnv); err != nil {
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
