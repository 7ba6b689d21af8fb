package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// complete validates the flags, alone and in combination, and sets the values that follow from them.
func (o *options) complete(changed func(name string) bool) error {
	o.leader.complete(changed("leader-elect"), len(o.etcd) > 0)
	if err := o.access.check(); err != nil {
		return err
	}
	if err := o.audit.Check(); err != nil {
		return err
	}
	if _, _, err := selectControllers(o.controllers, false); err != nil {
		return err
	}
	if err := o.checkAdmission(); err != nil {
		return err
	}
	if _, _, err := resources.ParseServing(o.runtimeConfig); err != nil {
		return fmt.Errorf("--runtime-config: %w", err)
	}
	if _, err := o.services(); err != nil {
		return err
	}
	if _, err := o.featureGates(); err != nil {
		return err
	}
	if changed("simulate-pods-delay") && !o.simulatePods {
		return errors.New("--simulate-pods-delay requires --simulate-pods")
	}
	return errors.Join(o.checkAddresses(), o.checkStorage(changed), o.checkLimits(), o.leader.check(), o.syncs.check())
}

// checkAdmission rejects the values that kube-apiserver rejects, and names the flag.
func (o *options) checkAdmission() error {
	for _, f := range []struct {
		flag  string
		names []string
	}{{"enable-admission-plugins", o.admit}, {"disable-admission-plugins", o.dontAdmit}} {
		if err := admission.CheckNames(f.names, nil); err != nil {
			return fmt.Errorf("--%s: %w", f.flag, err)
		}
	}
	if err := admission.CheckNames(o.admit, o.dontAdmit); err != nil {
		return fmt.Errorf("--enable-admission-plugins, --disable-admission-plugins: %w", err)
	}
	return nil
}

func (o *options) checkAddresses() error {
	switch ip := net.ParseIP(o.insecureAddress); {
	case o.insecurePort == 0:
	case ip == nil:
		return fmt.Errorf("--insecure-bind-address %q is not an IP address", o.insecureAddress)
	case !ip.IsLoopback():
		return fmt.Errorf("--insecure-bind-address %q is not a loopback address: all clients of that port are administrators",
			o.insecureAddress)
	}
	for _, h := range o.hosts {
		if net.ParseIP(h) == nil && len(validation.IsDNS1123Subdomain(strings.TrimPrefix(strings.ToLower(h), "*."))) > 0 {
			return fmt.Errorf("--tls-san %q is neither an IP address nor a DNS name", h)
		}
	}
	if net.ParseIP(o.bindAddress) == nil {
		return fmt.Errorf("--bind-address %q is not an IP address", o.bindAddress)
	}
	if o.insecurePort < -1 || o.insecurePort > 65535 {
		return fmt.Errorf(
			"--insecure-port %d is neither a port, nor 0 to disable it, nor -1 to choose a free one", o.insecurePort)
	}
	if o.securePort < 0 || o.securePort > 65535 {
		return fmt.Errorf("--secure-port %d is neither a port, nor 0 to choose a free one", o.securePort)
	}
	return nil
}

func (o *options) checkStorage(changed func(name string) bool) error {
	for _, flag := range []string{"etcd-cafile", "etcd-certfile", "etcd-keyfile"} {
		if changed(flag) && len(o.etcd) == 0 {
			return fmt.Errorf("--%s requires --etcd-servers", flag)
		}
	}
	if changed("etcd-servers") && len(o.etcd) == 0 {
		return errors.New("--etcd-servers is empty")
	}
	for _, server := range o.etcd {
		u, err := url.Parse(server)
		if err != nil || u.Host+u.Path == "" || !slices.Contains([]string{"http", "https", "unix", "unixs"}, u.Scheme) {
			return fmt.Errorf("--etcd-servers %q is not a URL like http://10.0.0.1:2379", server)
		}
	}
	switch {
	case changed("quota-backend-bytes") && len(o.etcd) > 0:
		return errors.New("--quota-backend-bytes can't be combined with --etcd-servers, which have their own quota")
	case o.quota < 1<<20:
		return fmt.Errorf("--quota-backend-bytes %d is less than %d", o.quota, 1<<20)
	case o.ephemeral && len(o.etcd) > 0:
		return errors.New("--ephemeral and --etcd-servers are mutually exclusive")
	case o.ephemeral && changed("data-dir"):
		return errors.New("--ephemeral and --data-dir are mutually exclusive")
	case o.dataDir == "":
		return errors.New("--data-dir is empty")
	case (o.etcdCert == "") != (o.etcdKey == ""):
		return errors.New("--etcd-certfile and --etcd-keyfile must be set together")
	}
	// kube-apiserver accepts a prefix with and without slashes around it.
	if o.etcdPrefix = "/" + strings.Trim(o.etcdPrefix, "/"); o.etcdPrefix == "/" {
		return errors.New("--etcd-prefix is empty: the keys of other etcd clients would be treated as objects")
	}
	return nil
}

// checkLimits validates limits, timeouts, and the flags of logs.
func (o *options) checkLimits() error {
	for _, f := range []struct {
		flag       string
		value, min int
	}{
		{"concurrent-gc-syncs", o.gcSyncs, 0},
		{"concurrent-namespace-syncs", o.nsSyncs, 1},
		{"concurrent-resource-quota-syncs", o.quotaSyncs, 1},
		{"max-requests-inflight", o.maxInFlight, 1},
		{"v", o.verbosity, 0},
	} {
		if f.value < f.min {
			return fmt.Errorf("--%s %d is less than %d", f.flag, f.value, f.min)
		}
	}
	for _, f := range []struct {
		flag       string
		value, min time.Duration
	}{
		{"etcd-compaction-interval", o.compaction, 0},
		{"event-ttl", o.eventTTL, time.Second}, // etcd's leases count seconds
		{"request-timeout", o.requestTimeout, time.Millisecond},
		{"shutdown-timeout", o.shutdownTimeout, 0},
		{"simulate-pods-delay", o.simulateDelay, 0},
	} {
		if f.value < f.min {
			return fmt.Errorf("--%s %v is less than %v", f.flag, f.value, f.min)
		}
	}
	if _, err := o.memoryInFlight(memoryLimit{}); err != nil {
		return err
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		return fmt.Errorf("--logging-format %q is neither text nor json", o.logFormat)
	}
	return nil
}
