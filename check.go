package kubecascade

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/internal/server"
	"github.com/kubecascade/kubecascade/storage"
)

// settings are the parsed settings of a server. Errors of their validation name flags.
type settings server.Config

// external reports whether the storage is an etcd cluster.
func (c *settings) external() bool { return len(c.Storage.Endpoints) > 0 }

// check validates the settings, alone and in combination. It opens and reads nothing.
func (c *settings) check() error {
	if err := c.checkAccess(); err != nil {
		return err
	}
	if err := c.Audit.Check(); err != nil {
		return err
	}
	if _, _, err := controllers.Select(c.Controllers.Enabled); err != nil {
		return err
	}
	if err := c.checkAdmission(); err != nil {
		return err
	}
	if _, _, err := resources.ParseServing(c.Serving); err != nil {
		return fmt.Errorf("--runtime-config: %w", err)
	}
	if _, err := featuregates.Resolve(c.Gates); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	if c.Simulation.Delay != 0 && !c.Simulate {
		return errors.New("--simulate-pods-delay requires --simulate-pods")
	}
	if c.NodesFile != "" && !c.Simulate {
		return errors.New("--simulate-nodes requires --simulate-pods")
	}
	return errors.Join(c.checkAddresses(), c.checkTLS(), c.checkStorage(), c.checkSnapshot(), c.checkLimits(),
		c.checkElection(), c.checkWorkers())
}

// checkAdmission rejects the values that kube-apiserver rejects, and names the flag.
func (c *settings) checkAdmission() error {
	for _, f := range []struct {
		flag  string
		names []string
	}{{"enable-admission-plugins", c.API.EnableAdmission}, {"disable-admission-plugins", c.API.DisableAdmission}} {
		if err := admission.CheckNames(f.names, nil); err != nil {
			return fmt.Errorf("--%s: %w", f.flag, err)
		}
	}
	if err := admission.CheckNames(c.API.EnableAdmission, c.API.DisableAdmission); err != nil {
		return fmt.Errorf("--enable-admission-plugins, --disable-admission-plugins: %w", err)
	}
	return nil
}

func (c *settings) checkAddresses() error {
	switch ip := net.ParseIP(c.Insecure.Host); {
	case c.Insecure.Port == 0:
	case ip == nil:
		return fmt.Errorf("--insecure-bind-address %q is not an IP address", c.Insecure.Host)
	case !ip.IsLoopback():
		return fmt.Errorf("--insecure-bind-address %q is not a loopback address: all clients of that port are administrators",
			c.Insecure.Host)
	}
	for _, h := range c.Hosts {
		if net.ParseIP(h) == nil && len(validation.IsDNS1123Subdomain(strings.TrimPrefix(strings.ToLower(h), "*."))) > 0 {
			return fmt.Errorf("--tls-san %q is neither an IP address nor a DNS name", h)
		}
	}
	switch {
	case c.CertFile != "" && c.KeyFile == "":
		return errors.New("--tls-cert-file requires --tls-private-key-file")
	case c.CertFile == "" && c.KeyFile != "":
		return errors.New("--tls-private-key-file requires --tls-cert-file")
	}
	if h := c.ExternalHostname; h != "" && net.ParseIP(h) == nil && len(validation.IsDNS1123Subdomain(h)) > 0 {
		return fmt.Errorf("--external-hostname %q is neither an IP address nor a DNS name", h)
	}
	if c.KubeconfigMode&^fs.ModePerm != 0 || c.KubeconfigMode&0o600 != 0o600 {
		return fmt.Errorf("--kubeconfig-mode %#o does not let the server read and write its file", c.KubeconfigMode)
	}
	if net.ParseIP(c.Secure.Host) == nil {
		return fmt.Errorf("--bind-address %q is not an IP address", c.Secure.Host)
	}
	if _, err := netip.ParseAddr(c.Advertise); c.Advertise != "" && err != nil {
		return fmt.Errorf("--advertise-address %q is not an IP address", c.Advertise)
	}
	if n := c.NodePort; n != 0 && !c.API.Services.Ports.Contains(n) {
		return fmt.Errorf("--kubernetes-service-node-port %d is not in --service-node-port-range", n)
	}
	if c.Insecure.Port < -1 || c.Insecure.Port > 65535 {
		return fmt.Errorf(
			"--insecure-port %d is neither a port, nor 0 to disable it, nor -1 to choose a free one", c.Insecure.Port)
	}
	if c.Secure.Port < 0 || c.Secure.Port > 65535 {
		return fmt.Errorf("--secure-port %d is neither a port, nor 0 to choose a free one", c.Secure.Port)
	}
	return nil
}

func (c *settings) checkStorage() error {
	o := c.Storage
	for _, f := range []struct{ flag, value string }{
		{"etcd-cafile", o.CAFile}, {"etcd-certfile", o.CertFile}, {"etcd-keyfile", o.KeyFile},
	} {
		if f.value != "" && !c.external() {
			return fmt.Errorf("--%s requires --etcd-servers", f.flag)
		}
	}
	for _, server := range o.Endpoints {
		u, err := url.Parse(server)
		if err != nil || u.Host+u.Path == "" || !slices.Contains([]string{"http", "https", "unix", "unixs"}, u.Scheme) {
			return fmt.Errorf("--etcd-servers %q is not a URL like http://10.0.0.1:2379", server)
		}
	}
	switch {
	case o.QuotaBytes != 0 && c.external():
		return errors.New("--quota-backend-bytes can't be combined with --etcd-servers, which have their own quota")
	case o.QuotaBytes < storage.MinQuota && !c.external():
		return fmt.Errorf("--quota-backend-bytes %d is less than %d", o.QuotaBytes, storage.MinQuota)
	case (o.CertFile == "") != (o.KeyFile == ""):
		return errors.New("--etcd-certfile and --etcd-keyfile must be set together")
	case strings.Trim(o.Root, "/") == "":
		return errors.New("--etcd-prefix is empty: the keys of other etcd clients would be treated as objects")
	}
	return nil
}

// checkTLS rejects settings with which net/http can't serve HTTP/2 (RFC 9113, section 9.2.2). With them the server
// would fail after the start.
func (c *settings) checkTLS() error {
	t := &c.TLS
	needed := slices.ContainsFunc(t.CipherSuites, func(id uint16) bool {
		return id == tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 || id == tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
	})
	if len(t.CipherSuites) > 0 && !needed && !t.HTTP1 && t.MinVersion < tls.VersionTLS13 {
		return errors.New("--tls-cipher-suites needs TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 or " +
			"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 for HTTP/2, unless --disable-http2-serving is set")
	}
	return nil
}

func (c *settings) checkLimits() error {
	if g := c.API.GoawayChance; g < 0 || g > 0.02 {
		return fmt.Errorf("--goaway-chance can not be less than 0 or greater than 0.02")
	}
	if n := c.API.MaxInFlight; n < 1 {
		return fmt.Errorf("--max-requests-inflight %d is less than 1", n)
	}
	for _, f := range []struct {
		flag       string
		value, min time.Duration
	}{
		{"etcd-compaction-interval", c.Compaction, 0},
		{"event-ttl", c.API.EventTTL, time.Second}, // etcd's leases count seconds
		{"request-timeout", c.API.RequestTimeout, time.Millisecond},
		{"shutdown-timeout", c.Shutdown, 0},
		{"shutdown-delay-duration", c.Delay, 0},
		{"simulate-pods-delay", c.Simulation.Delay, 0},
		{"horizontal-pod-autoscaler-sync-period", c.Controllers.Autoscaler.SyncPeriod, 0},
	} {
		if f.value < f.min {
			return fmt.Errorf("--%s %v is less than %v", f.flag, f.value, f.min)
		}
	}
	if n := c.API.MemoryInFlight; n != 0 && n < server.LeastInFlight {
		return fmt.Errorf("--max-memory-inflight %s is less than 16Mi", resource.NewQuantity(n, resource.BinarySI))
	}
	return nil
}

// checkElection validates the times of leader election (component-base: ValidateLeaderElectionConfiguration).
func (c *settings) checkElection() error {
	switch l := &c.Controllers; {
	case !*l.LeaderElect:
		return nil
	case l.RetryPeriod <= 0:
		return fmt.Errorf("--leader-elect-retry-period %v is not greater than 0", l.RetryPeriod)
	case l.RenewDeadline <= l.RetryPeriod*6/5: // the longest pause between two attempts
		return fmt.Errorf(
			"--leader-elect-renew-deadline %v is not greater than 1.2 times --leader-elect-retry-period %v",
			l.RenewDeadline, l.RetryPeriod,
		)
	case l.LeaseDuration <= l.RenewDeadline:
		return fmt.Errorf("--leader-elect-lease-duration %v is not greater than --leader-elect-renew-deadline %v",
			l.LeaseDuration, l.RenewDeadline)
	case l.LeaseDuration%time.Second != 0:
		return fmt.Errorf("--leader-elect-lease-duration %v is not a number of seconds", l.LeaseDuration)
	}
	return nil
}

// checkWorkers validates the numbers of workers: a controller without a worker would silently do nothing.
func (c *settings) checkWorkers() error {
	for _, name := range slices.Sorted(maps.Keys(c.Controllers.Workers)) {
		of, ok := controllers.Of(name)
		if !ok || of.Flag == "" {
			return fmt.Errorf("the number of workers of controller %q can't be set", name)
		}
		if n := c.Controllers.Workers[name]; n < of.Least {
			return fmt.Errorf("--%s %d is less than %d", of.Flag, n, of.Least)
		}
	}
	return nil
}

// checkProxies validates the headers (AS pkg/server/options/authentication.go:
// RequestHeaderAuthenticationOptions.Validate).
func checkProxies(p *apiserver.RequestHeader) error {
	for _, f := range []struct {
		flag   string
		values []string
	}{
		{"username-headers", p.UsernameHeaders}, {"group-headers", p.GroupHeaders},
		{"extra-headers-prefix", p.ExtraHeadersPrefix}, {"allowed-names", p.AllowedNames}, {"uid-headers", p.UIDHeaders},
	} {
		if slices.ContainsFunc(f.values, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			return fmt.Errorf("--requestheader-%s has an empty value", f.flag)
		}
	}
	if len(p.UIDHeaders) > 0 && !slices.ContainsFunc(p.UIDHeaders, func(s string) bool {
		return strings.EqualFold(s, "X-Remote-Uid")
	}) {
		return errors.New("--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - " +
			"API aggregation will not work")
	}
	return nil
}

// checkAccess validates the settings of authentication and authorization; it reads no files.
func (c *settings) checkAccess() error {
	x := &c.Access
	if len(x.Modes) == 0 || slices.Contains(x.Modes, "") {
		return errors.New("--authorization-mode is empty")
	}
	for i, m := range x.Modes {
		if !slices.Contains(apiserver.Modes(), m) {
			return fmt.Errorf(
				"--authorization-mode: unknown mode %q; the modes are %s", m, strings.Join(apiserver.Modes(), ", "))
		}
		if slices.Contains(x.Modes[:i], m) {
			return fmt.Errorf("--authorization-mode names %s twice", m)
		}
	}
	if len(x.Issuers) == 0 || slices.Contains(x.Issuers, "") {
		return errors.New("--service-account-issuer is empty")
	}
	for i, s := range x.Issuers {
		if slices.Contains(x.Issuers[:i], s) { // K pkg/kubeapiserver/options/authentication.go: Validate
			return fmt.Errorf("--service-account-issuer names %q twice", s)
		}
	}
	if err := checkProxies(&x.RequestHeader); err != nil {
		return err
	}
	if k := &x.Kubelets; (k.CertFile == "") != (k.KeyFile == "") {
		return errors.New("--kubelet-client-certificate and --kubelet-client-key require each other")
	}
	if n := x.Kubelets.Port; n < 0 || n > 65535 {
		return fmt.Errorf("--kubelet-port %d is not a port", n)
	}
	if f := &x.FrontProxy; (f.CertFile == "") != (f.KeyFile == "") {
		return errors.New("--proxy-client-cert-file and --proxy-client-key-file require each other")
	}
	if slices.Contains(x.Audiences, "") {
		return errors.New("--api-audiences has an empty audience")
	}
	if slices.Contains(x.KeyFiles, "") {
		return errors.New("--service-account-key-file is empty")
	}
	for _, s := range x.Issuers { // a name with a colon is a URL (RFC 7519)
		if u, err := url.Parse(s); strings.Contains(s, ":") && (err != nil || u.Scheme == "") {
			return fmt.Errorf("--service-account-issuer %q is not a URL", s)
		}
	}
	if u, err := url.Parse(x.KeysURL); x.KeysURL != "" && (err != nil || u.Scheme != "https") {
		return fmt.Errorf("--service-account-jwks-uri %q is not an https URL", x.KeysURL)
	}
	return nil
}

// checkSnapshot rejects settings that exclude each other.
func (c *settings) checkSnapshot() error {
	if c.Snapshot.File == "" {
		if c.Snapshot.Writable {
			return errors.New("--writable requires --from-snapshot")
		}
		return nil
	}
	on, _, err := controllers.Select(c.Controllers.Enabled)
	switch {
	case err != nil:
		return nil // the caller returns its error
	case c.external():
		return errors.New("--from-snapshot and --etcd-servers are mutually exclusive")
	case c.Snapshot.Writable:
		return nil
	case c.Dir != "":
		return errors.New("--from-snapshot with --data-dir requires --writable: " +
			"a read-only copy is in a temporary directory")
	case slices.Contains(slices.Collect(maps.Values(on)), true):
		return errors.New("--controllers with --from-snapshot requires --writable: controllers write")
	case c.Simulate:
		return errors.New("--simulate-pods with --from-snapshot requires --writable: the simulation writes")
	}
	return nil
}
