package kubeapiserver

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	cliflag "k8s.io/component-base/cli/flag"
)

// sections are the flags that have an effect, in the order of kube-apiserver's --help.
var sections = []struct {
	title   string
	declare func(*Settings, *pflag.FlagSet)
}{
	{"generic", generic}, {"etcd", etcd}, {"secure serving", serving}, {"auditing", auditing}, {"features", features},
	{"authentication", authentication}, {"authorization", authorization}, {"API enablement", enablement},
	{"admission", admission}, {"logs", logs}, {"misc", misc}, {"global", global},
}

// generic are the flags of AS pkg/server/options/server_run_options.go: AddUniversalFlags.
func generic(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.Func("advertise-address",
		"address (`ip`) at which members of the cluster reach this server, for the endpoints of the service "+
			"kubernetes", ip(&o.Addresses.AdvertiseAddress))
	f.StringVar(&o.Addresses.ExternalHostname, "external-hostname", "", "host name in URLs that the server generates")
	f.Func("feature-gates", "feature gates as `name=true` or name=false", pairs(&s.gates))
	f.Float64Var(&o.Limits.GoawayChance, "goaway-chance", 0,
		"fraction of HTTP/2 requests whose connection the server closes afterwards")
	f.IntVar(&s.mutating, "max-mutating-requests-inflight", 200,
		"with --max-requests-inflight, the sum is the maximum number of concurrent requests")
	f.IntVar(&s.reading, "max-requests-inflight", 400,
		"with --max-mutating-requests-inflight, the sum is the maximum number of concurrent requests")
	f.IntVar(&s.minWatch, "min-request-timeout", 1800, "minimum number of seconds until the server ends a watch")
	f.DurationVar(&o.Limits.RequestTimeout, "request-timeout", time.Minute,
		"maximum duration of a request, except watches")
	f.DurationVar(&o.Limits.ShutdownDelay, "shutdown-delay-duration", 0,
		"how long requests are still served after the signal to end")
}

// etcd are the flags of AS pkg/server/options/etcd.go.
func etcd(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.StringVar(&o.Storage.EncryptionProviderConfig, "encryption-provider-config", "",
		"file with the configuration of the encryption of stored resources")
	f.StringVar(&o.Storage.CAFile, "etcd-cafile", "", "file with the CA certificates of --etcd-servers")
	f.StringVar(&o.Storage.CertFile, "etcd-certfile", "", "file with the client certificate for --etcd-servers")
	f.DurationVar(&o.Storage.CompactionInterval, "etcd-compaction-interval", 5*time.Minute,
		"interval of compactions of etcd; 0 disables them")
	f.StringVar(&o.Storage.KeyFile, "etcd-keyfile", "", "file with the private key of --etcd-certfile")
	f.StringVar(&o.Storage.Prefix, "etcd-prefix", "/registry", "prefix of all keys in etcd")
	f.StringSliceVar(&o.Storage.Endpoints, "etcd-servers", nil, "URLs of etcd")
}

// serving are the flags of AS pkg/server/options/serving.go, with the defaults of K
// pkg/kubeapiserver/options/serving.go.
func serving(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	o.Addresses.BindAddress = "0.0.0.0"
	f.Func("bind-address", "address (`ip`) of --secure-port (default 0.0.0.0)", ip(&o.Addresses.BindAddress))
	f.StringVar(&s.CertDir, "cert-dir", "/var/run/kubernetes",
		"directory of apiserver.crt and apiserver.key, which are generated if they are missing; unused with "+
			"--tls-cert-file")
	f.BoolVar(&o.Addresses.DisableHTTP2, "disable-http2-serving", false, "serve HTTP/1.1 only")
	f.IntVar(&o.Addresses.SecurePort, "secure-port", 6443, "port for HTTPS")
	f.StringVar(&o.Addresses.CertFile, "tls-cert-file", "",
		"file with the serving certificate and intermediate certificates")
	f.StringSliceVar(&o.Addresses.CipherSuites, "tls-cipher-suites", nil, "accepted cipher suites")
	f.Int32SliceVar(&o.Addresses.CurvePreferences, "tls-curve-preferences", nil, "accepted curves, by their numbers")
	f.StringVar(&o.Addresses.MinTLSVersion, "tls-min-version", "",
		"oldest accepted version of TLS: "+strings.Join(cliflag.TLSPossibleVersions(), ", "))
	f.StringVar(&o.Addresses.KeyFile, "tls-private-key-file", "", "file with the private key of --tls-cert-file")
	f.Var(cliflag.NewNamedCertKeyArray(&s.named), "tls-sni-cert-key",
		"certificate and key for some host names, as certfile,keyfile:name,name")
}

// auditing are the flags of AS pkg/server/options/audit.go.
func auditing(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.IntVar(&o.Audit.Batch.BufferSize, "audit-log-batch-buffer-size", 10000,
		"number of events in the buffer of mode batch")
	f.IntVar(&o.Audit.Batch.MaxBatchSize, "audit-log-batch-max-size", 1,
		"maximum number of events that mode batch writes at once")
	f.DurationVar(&o.Audit.Batch.MaxBatchWait, "audit-log-batch-max-wait", 0,
		"maximum time that mode batch waits until a batch is full")
	f.IntVar(&o.Audit.Batch.ThrottleBurst, "audit-log-batch-throttle-burst", 0,
		"maximum number of batches in a burst")
	f.BoolVar(&o.Audit.Batch.ThrottleEnable, "audit-log-batch-throttle-enable", false, "limit the rate of mode batch")
	f.Float32Var(&o.Audit.Batch.ThrottleQPS, "audit-log-batch-throttle-qps", 0,
		"maximum average number of batches per second")
	f.BoolVar(&o.Audit.Compress, "audit-log-compress", false, "compress rotated audit logs with gzip")
	f.StringVar(&o.Audit.Format, "audit-log-format", "json", "format of audit events: json or legacy")
	f.IntVar(&o.Audit.MaxAge, "audit-log-maxage", 366, "maximum age of rotated audit logs in days")
	f.IntVar(&o.Audit.MaxBackups, "audit-log-maxbackup", 100, "maximum number of rotated audit logs")
	f.IntVar(&o.Audit.MaxSize, "audit-log-maxsize", 100, "size in megabytes at which the audit log is rotated")
	f.StringVar(&o.Audit.Mode, "audit-log-mode", "blocking",
		"how events are written: batch, blocking or blocking-strict")
	f.StringVar(&o.Audit.Path, "audit-log-path", "", "file for audit events; - is standard output")
	f.BoolVar(&o.Audit.Truncate, "audit-log-truncate-enabled", false, "truncate events that are too large")
	f.Int64Var(&o.Audit.Limits.MaxBatchSize, "audit-log-truncate-max-batch-size", 10485760,
		"maximum size of a batch in bytes")
	f.Int64Var(&o.Audit.Limits.MaxEventSize, "audit-log-truncate-max-event-size", 102400,
		"maximum size of an event in bytes")
	f.StringVar(&o.Audit.Version, "audit-log-version", "audit.k8s.io/v1", "API version of audit events")
	f.StringVar(&o.Audit.PolicyFile, "audit-policy-file", "", "file with the audit policy")
}

// features are the flags of AS pkg/server/options/feature.go.
func features(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.BoolVar(&o.Profiling, "profiling", true, "serve profiles at /debug/pprof/")
}

// authentication are the flags of K pkg/kubeapiserver/options/authentication.go and AS
// pkg/server/options/authentication.go.
func authentication(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.BoolVar(&s.anonymous, "anonymous-auth", true, "treat requests without credentials as system:anonymous")
	f.StringSliceVar(&o.Access.Audiences, "api-audiences", nil,
		"accepted audiences of tokens (default the first issuer)")
	f.StringVar(&o.Access.ClientCAFile, "client-ca-file", "",
		"file with the CA certificates that verify client certificates")
	f.StringSliceVar(&o.Access.RequestHeader.AllowedNames, "requestheader-allowed-names", nil,
		"common names of the client certificates of proxies that may name the user; empty allows all")
	f.StringVar(&o.Access.RequestHeader.ClientCAFile, "requestheader-client-ca-file", "",
		"file with the CA certificates that verify proxies that name the user")
	f.StringSliceVar(&o.Access.RequestHeader.ExtraHeadersPrefix, "requestheader-extra-headers-prefix", nil,
		"prefixes of headers in which proxies name the user's extra fields")
	f.StringSliceVar(&o.Access.RequestHeader.GroupHeaders, "requestheader-group-headers", nil,
		"headers in which proxies name the groups")
	f.StringSliceVar(&o.Access.RequestHeader.UIDHeaders, "requestheader-uid-headers", nil,
		"headers in which proxies name the UID")
	f.StringSliceVar(&o.Access.RequestHeader.UsernameHeaders, "requestheader-username-headers", nil,
		"headers in which proxies name the user")
	f.StringVar(&o.Access.TokenFile, "token-auth-file", "",
		"CSV file with static bearer tokens: token,user,uid,\"group,group\"")
	f.StringArrayVar(&o.Access.Issuers, "service-account-issuer", nil,
		"accepted issuer of service account tokens; new tokens have the first; may be repeated")
	f.StringVar(&o.Access.KeysURL, "service-account-jwks-uri", "",
		"URL of the public keys of service account tokens, for the OpenID configuration")
	f.StringArrayVar(&o.Access.KeyFiles, "service-account-key-file", nil,
		"file with keys that verify service account tokens; may be repeated")
}

// authorization are the flags of K pkg/kubeapiserver/options/authorization.go.
func authorization(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.StringSliceVar(&o.Access.Modes, "authorization-mode", nil,
		"ordered list of authorization modes (default AlwaysAllow): AlwaysAllow, AlwaysDeny, RBAC; Node has no "+
			"effect")
}

// enablement are the flags of AS pkg/server/options/api_enablement.go.
func enablement(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.Func("runtime-config",
		"API versions and resources to enable or disable, as `group/version=true` or "+
			"group/version/resource=false", words(&o.API.RuntimeConfig))
}

// admission are the flags of K pkg/kubeapiserver/options/admission.go and AS pkg/server/options/admission.go.
func admission(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.StringSliceVar(&o.Admission.Disable, "disable-admission-plugins", nil,
		"admission plugins to disable although they are on by default")
	f.StringSliceVar(&o.Admission.Enable, "enable-admission-plugins", nil,
		"admission plugins to enable in addition to the default ones")
}

// logs are the flags of k8s.io/component-base logs/api/v1/options.go.
func logs(s *Settings, f *pflag.FlagSet) {
	f.StringVar(&s.LogFormat, "logging-format", "text", "log format: text or json")
	f.IntVarP(&s.Verbosity, "v", "v", 0, "log level")
}

// misc are the flags of K pkg/controlplane/apiserver/options/options.go and K
// cmd/kube-apiserver/app/options/options.go.
func misc(s *Settings, f *pflag.FlagSet) {
	o := &s.Options
	f.StringVar(&o.Addresses.EndpointReconcilerType, "endpoint-reconciler-type", "lease",
		"how the endpoints of this service are kept: lease, master-count or none")
	f.DurationVar(&o.Storage.EventTTL, "event-ttl", time.Hour, "time to live of Events")
	f.IntVar(&o.Services.KubernetesNodePort, "kubernetes-service-node-port", 0,
		"node port of the service kubernetes; 0 for none")
	f.StringVar(&o.Access.SigningKeyFile, "service-account-signing-key-file", "",
		"file with the private key that signs service account tokens")
	f.StringVar(&o.Services.ClusterIPRange, "service-cluster-ip-range", "",
		"CIDR from which cluster IPs of services are allocated; of two, that of IPv4 is used")
	o.Services.NodePortRange = "30000-32767"
	f.Func("service-node-port-range",
		"`range` from which node ports of services are allocated (default 30000-32767)", func(text string) error {
			o.Services.NodePortRange = text
			_, err := utilnet.ParsePortRange(text)
			return err
		})
}

// global are the flags of k8s.io/component-base version/verflag.
func global(s *Settings, f *pflag.FlagSet) {
	f.BoolP("help", "h", false, "help for kube-apiserver")
	f.StringVar(&s.version, "version", "false", "print the version and quit")
	f.Lookup("version").NoOptDefVal = "true"
}

// ip returns a function that sets an IP address.
func ip(to *string) func(string) error {
	return func(text string) error {
		if *to = strings.TrimSpace(text); net.ParseIP(*to) == nil {
			return fmt.Errorf("failed to parse IP: %q", text)
		}
		return nil
	}
}

// words returns a function that appends words, which commas separate.
func words(to *[]string) func(string) error {
	return func(text string) error { *to = append(*to, split(text)...); return nil }
}

// pairs is words whose words are pairs (component-base: colonSeparatedMultimapStringString).
func pairs(to *[]string) func(string) error {
	return func(text string) error {
		all := split(text)
		if slices.ContainsFunc(all, func(word string) bool { return !strings.Contains(word, "=") }) {
			return errors.New("malformed pair, expect string=string")
		}
		*to = append(*to, all...)
		return nil
	}
}

// split returns the words of a list, without empty ones.
func split(text string) (words []string) {
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}
