package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/internal/kubeapiserver"
)

// envtest are the flags that controller-runtime's envtest gives (pkg/internal/testing/controlplane/apiserver.go).
var envtest = []string{
	"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--cert-dir=/certs",
	"--client-ca-file=/certs/client-cert-auth-ca.crt", "--disable-admission-plugins=ServiceAccount",
	"--etcd-servers=http://127.0.0.1:2379", "--secure-port=34567", "--service-account-issuer=https://127.0.0.1:34567/",
	"--service-account-key-file=/certs/sa-signer.crt", "--service-account-signing-key-file=/certs/sa-signer.key",
	"--service-cluster-ip-range=10.0.0.0/24",
}

// asAPIServerWith are the options and the flags by envtest's arguments and others.
func asAPIServerWith(t *testing.T, more ...string) (*options, *kubeapiserver.Flags) {
	t.Helper()
	o, f, err := apiServerOptions(slices.Concat(envtest, more), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return o, f
}

// TestFlagsOfEnvtest: envtest's flags are those of the options; kube-apiserver's defaults are the rest.
func TestFlagsOfEnvtest(t *testing.T) {
	o, f := asAPIServerWith(t)
	for what, ok := range map[string]bool{
		"port": o.Addresses.SecurePort == 34567 && o.Addresses.BindAddress == "127.0.0.1" &&
			o.Addresses.InsecurePort == 0,
		"etcd": slices.Equal(o.Storage.Endpoints, []string{"http://127.0.0.1:2379"}) &&
			o.Storage.Prefix == "/registry",
		"modes":       slices.Equal(o.Access.Modes, []string{"RBAC"}),
		"plugins":     slices.Equal(o.Admission.Disable, []string{"ServiceAccount"}) && len(o.Admission.Enable) == 0,
		"controllers": o.Controllers.Enabled != nil && len(o.Controllers.Enabled) == 0 && !*o.Controllers.LeaderElect,
		"requests":    o.Limits.MaxInFlight == 600 && o.Limits.RequestTimeout == time.Minute,
		"anonymous":   *o.Access.Anonymous,
		"profiling":   o.Profiling,
		"certificate": f.Lookup("cert-dir").Value.String() == "/certs" && o.Addresses.CertFile == "",
		"accounts": slices.Equal(o.Access.Issuers, []string{"https://127.0.0.1:34567/"}) &&
			o.Access.SigningKeyFile == "/certs/sa-signer.key" &&
			slices.Equal(o.Access.KeyFiles, []string{"/certs/sa-signer.crt"}),
		"ineffective": slices.Equal(f.Ineffective(), []string{"allow-privileged"}),
	} {
		if !ok {
			t.Errorf("%s: %+v", what, o)
		}
	}
}

// TestFlagsWithEffect: flags that act change the options.
func TestFlagsWithEffect(t *testing.T) {
	o, f := asAPIServerWith(t, "--feature-gates=AllowUnsafeMalformedObjectDeletion=true,WatchList=false",
		"--feature-gates=JobManagedBy=true",
		"--runtime-config=api/all=true,apps/v1=false", "--audit-log-path=-", "--audit-policy-file=/p",
		"--audit-log-maxsize=7",
		"--max_requests_inflight=10", "--max-mutating-requests-inflight=5", "--authorization-mode=Node",
		"--service-cluster-ip-range=fd00::/108,10.1.0.0/16", "-v=4", "--etcd-compaction-interval=0", "--event-ttl=5m",
		"--tls-cert-file=/c", "--tls-private-key-file=/k", "--watch-cache=false", "--anonymous-auth=false")
	for what, ok := range map[string]bool{
		"gates": reflect.DeepEqual(o.API.FeatureGates, map[string]bool{
			"AllowUnsafeMalformedObjectDeletion": true, "WatchList": false, "JobManagedBy": true}),
		"runtime":    slices.Equal(o.API.RuntimeConfig, []string{"api/all=true", "apps/v1=false"}),
		"audit":      o.Audit.Path == "-" && o.Audit.PolicyFile == "/p" && o.Audit.MaxSize == 7 && o.Audit.MaxAge == 366,
		"requests":   o.Limits.MaxInFlight == 15,
		"modes":      slices.Equal(o.Access.Modes, []string{"RBAC"}), // Node allows nothing
		"services":   o.Services.ClusterIPRange == "10.1.0.0/16",
		"verbosity":  o.verbosity == 4,
		"compaction": o.Storage.CompactionInterval < 0,
		"events":     o.Storage.EventTTL == 5*time.Minute,
		"files":      o.Addresses.CertFile == "/c" && o.Addresses.KeyFile == "/k",
		"anonymous":  !*o.Access.Anonymous,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, o)
		}
	}
	if want := []string{"allow-privileged", "watch-cache"}; !slices.Equal(f.Ineffective(), want) {
		t.Errorf("without effect are %q, want %q", f.Ineffective(), want)
	}
	if o, _ := asAPIServerWith(t, "--service-account-issuer=a,b", "--service-account-key-file=c,d"); !slices.Equal(
		o.Access.Issuers, []string{"https://127.0.0.1:34567/", "a,b"}) || o.Access.KeyFiles[1] != "c,d" {
		t.Errorf("lists whose values contain commas: %q %q", o.Access.Issuers, o.Access.KeyFiles)
	}
	if o, _ := asAPIServerWith(t, "-v=-1", "--runtime-config=apps/v1=false,"); o.verbosity != 0 ||
		!slices.Equal(o.API.RuntimeConfig, []string{"apps/v1=false"}) {
		t.Errorf("unusual values: %d %q", o.verbosity, o.API.RuntimeConfig)
	}
	if o, _ := asAPIServerWith(t, "--disable-admission-plugins="); !slices.Contains(o.Admission.Disable, "ServiceAccount") {
		t.Errorf("an empty word removed another: %q", o.Admission.Disable)
	}
}

// TestServingFlagsOfAPIServer: flags of proxies, certificates, addresses and the end of connections change the options.
func TestServingFlagsOfAPIServer(t *testing.T) {
	o, f := asAPIServerWith(t, "--requestheader-client-ca-file=/ca", "--requestheader-allowed-names=a,b",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-uid-headers=x-remote-uid",
		"--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--tls-sni-cert-key=/a.crt,/a.key", "--tls-sni-cert-key=/b.crt,/b.key:x.example,*.y.example",
		"--tls-min-version=VersionTLS13", "--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
		"--tls-curve-preferences=23,29", "--disable-http2-serving", "--advertise-address=10.1.2.3",
		"--endpoint-reconciler-type=none", "--kubernetes-service-node-port=30443", "--goaway-chance=0.01",
		"--min-request-timeout=60", "--shutdown-delay-duration=3s")
	want := kubecascade.Addresses{
		SecurePort: 34567, BindAddress: "127.0.0.1", InsecureBindAddress: "127.0.0.1", KubeconfigMode: 0o600,
		NamedCertificates: []kubecascade.NamedCertificate{
			{CertFile: "/a.crt", KeyFile: "/a.key"},
			{CertFile: "/b.crt", KeyFile: "/b.key", Names: []string{"x.example", "*.y.example"}},
		},
		MinTLSVersion: "VersionTLS13", CipherSuites: []string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
		CurvePreferences: []int32{23, 29}, DisableHTTP2: true,
		AdvertiseAddress: "10.1.2.3", EndpointReconcilerType: "none",
	}
	proxies := kubecascade.RequestHeader{
		ClientCAFile: "/ca", AllowedNames: []string{"a", "b"}, UsernameHeaders: []string{"X-Remote-User"},
		UIDHeaders: []string{"x-remote-uid"}, GroupHeaders: []string{"X-Remote-Group"},
		ExtraHeadersPrefix: []string{"X-Remote-Extra-"},
	}
	if diff := cmp.Diff(want, o.Addresses) + cmp.Diff(proxies, o.Access.RequestHeader); diff != "" {
		t.Error(diff)
	}
	if o.Services.KubernetesNodePort != 30443 || o.Limits.GoawayChance != 0.01 ||
		o.Limits.MinRequestTimeout != time.Minute || o.Limits.ShutdownDelay != 3*time.Second {
		t.Errorf("%+v %+v", o.Services, o.Limits)
	}
	if !slices.Equal(f.Ineffective(), []string{"allow-privileged"}) {
		t.Errorf("without effect are %q", f.Ineffective())
	}
	if o, _ := asAPIServerWith(t, "--min-request-timeout=0"); o.Limits.MinRequestTimeout >= 0 {
		t.Errorf("%v", o.Limits.MinRequestTimeout)
	}
}

// TestAdvertiseAddress: a flag comes first, then the address of the port; a loopback address is that of an interface,
// if there is one (AS pkg/server/options/server_run_options.go: DefaultAdvertiseAddress).
func TestAdvertiseAddress(t *testing.T) {
	for want, args := range map[string][]string{
		"10.1.2.3": {"--advertise-address=10.1.2.3"}, "127.0.0.1": {"--advertise-address=127.0.0.1"},
		"10.4.5.6": {"--bind-address=10.4.5.6"}, "10.4.5.7": {"--bind-address=10.4.5.7", "--advertise-address=0.0.0.0"},
	} {
		o, f := asAPIServerWith(t, args...)
		if err := f.ChooseAdvertiseAddress(utilnet.ResolveBindAddress); err != nil || o.Addresses.AdvertiseAddress != want {
			t.Errorf("%q: %s %v", args, o.Addresses.AdvertiseAddress, err)
		}
	}
	o, f := asAPIServerWith(t)
	if err := f.ChooseAdvertiseAddress(utilnet.ResolveBindAddress); err != nil || net.ParseIP(o.Addresses.AdvertiseAddress).IsLoopback() {
		t.Errorf("%s %v", o.Addresses.AdvertiseAddress, err)
	}
	o, f = asAPIServerWith(t, "--advertise-address=0.0.0.0")
	unreachable := func(net.IP) (net.IP, error) { return nil, errors.New("no network") }
	if err := f.ChooseAdvertiseAddress(unreachable); err != nil || o.Addresses.AdvertiseAddress != "" {
		t.Errorf("without a network: %q %v", o.Addresses.AdvertiseAddress, err)
	}
}

// TestAccountPlugin: ServiceAccount is on by default.
func TestAccountPlugin(t *testing.T) {
	args := slices.DeleteFunc(slices.Clone(envtest), func(s string) bool { return strings.Contains(s, "ServiceAccount") })
	o, _, err := apiServerOptions(args, io.Discard)
	if err != nil || !slices.Equal(o.Admission.Enable, []string{"ServiceAccount"}) {
		t.Errorf("%v %+v", err, o)
	}
}

// TestErrorsAsAPIServer: the messages are kube-apiserver's.
func TestErrorsAsAPIServer(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--nonsense"}, "unknown flag: --nonsense"},
		{[]string{"--insecure-port=0"}, "unknown flag: --insecure-port"},
		{[]string{"serve"}, `"kube-apiserver" does not take any arguments, got ["serve"]`},
		{nil, "[--etcd-servers must be specified, service-account-issuer is a required flag, " +
			"--service-account-signing-key-file and --service-account-issuer are required flags]"},
		{[]string{"--logging-format=xml"}, `format: Invalid value: "xml": Unsupported log format`},
		{append(slices.Clone(envtest), "--secure-port=0"),
			"--secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0"},
		{append(slices.Clone(envtest), "--goaway-chance=0.03"),
			"--goaway-chance can not be less than 0 or greater than 0.02"},
		{append(slices.Clone(envtest), "--min-request-timeout=-1"), "--min-request-timeout can not be negative value"},
		{append(slices.Clone(envtest), "--shutdown-delay-duration=-1s"),
			"--shutdown-delay-duration can not be negative value"},
		{append(slices.Clone(envtest), "--tls-sni-cert-key=x"), `invalid argument "x" for "--tls-sni-cert-key" flag: ` +
			"expected comma separated certificate and key file paths"},
		{append(slices.Clone(envtest), "--tls-min-version=1.2"), `--tls-min-version: unknown tls version "1.2"`},
		{append(slices.Clone(envtest), "--tls-cipher-suites=NONE"),
			"--tls-cipher-suites: Cipher suite NONE not supported or doesn't exist"},
		{append(slices.Clone(envtest), "--requestheader-uid-headers=X-Uid"), "--requestheader-uid-headers is set without " +
			"specifying the standard X-Remote-Uid header - API aggregation will not work"},
		{append(slices.Clone(envtest), "--requestheader-allowed-names= "),
			"--requestheader-allowed-names has an empty value"},
		{append(slices.Clone(envtest), "--kubernetes-service-node-port=80"),
			"--kubernetes-service-node-port 80 is not in --service-node-port-range"},
		{append(slices.Clone(envtest), "--service-node-port-range=x"),
			`invalid argument "x" for "--service-node-port-range" flag: strconv.Atoi: parsing "x": invalid syntax`},
		{append(slices.Clone(envtest), "--feature-gates=Nonsense=true"), "unrecognized feature gate: Nonsense"},
		{append(slices.Clone(envtest), "--authorization-mode=Nonsense"), `authorization-mode "Nonsense" is not a valid mode`},
		{append(slices.Clone(envtest), "--max-requests-inflight=-1"), "--max-requests-inflight can not be negative value"},
		{
			[]string{"--version=x"},
			`invalid argument "x" for "--version" flag: strconv.ParseBool: parsing "x": invalid syntax`,
		},
		{
			[]string{"--secure-port=x"},
			`invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax`,
		},
	} {
		if _, _, err := apiServerOptions(c.args, io.Discard); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}
}

// TestVersionAsAPIServer: the version is printed as kube-apiserver prints it (V-001).
func TestVersionAsAPIServer(t *testing.T) {
	var out bytes.Buffer
	_, _, err := apiServerOptions([]string{"--version"}, &out)
	if !errors.Is(err, kubeapiserver.ErrDone) || !strings.HasPrefix(out.String(), "Kubernetes v1.37.") {
		t.Errorf("%v %q", err, &out)
	}
}

// TestHelpAsAPIServer: help has the sections, and the flags that have an effect at the beginning of lines, where clients look.
func TestHelpAsAPIServer(t *testing.T) {
	var out bytes.Buffer
	if _, _, err := apiServerOptions([]string{"--help"}, &out); !errors.Is(err, kubeapiserver.ErrDone) {
		t.Fatal(err)
	}
	for _, title := range []string{"Generic", "Etcd", "Secure serving", "Auditing", "Features", "Authentication",
		"Authorization", "API enablement", "Admission", "Logs", "Misc", "Global"} {
		if !strings.Contains(out.String(), "\n"+title+" flags:\n") {
			t.Errorf("no section %s", title)
		}
	}
	_, f := asAPIServerWith(t)
	flags, effective := 0, 0
	f.VisitAll(func(flag *pflag.Flag) {
		flags++
		if flag.Usage != "" {
			effective++
		}
		if got := strings.Contains(out.String(), " --"+flag.Name+" "); got != (flag.Usage != "") && flag.Name != "help" {
			t.Errorf("--%s is in the help: %v", flag.Name, got)
		}
	})
	if flags != 177 || effective != 79 {
		t.Errorf("%d flags, %d have an effect", flags, effective)
	}
}

// TestGatesAsAPIServer: what is accepted, with which effect, and the messages (component-base featuregate/feature_gate_test.go).
func TestGatesAsAPIServer(t *testing.T) {
	const malformed = "AllowUnsafeMalformedObjectDeletion"
	for value, want := range map[string]map[string]bool{
		"WatchList=false": {"WatchList": false}, malformed + "=true": {malformed: true},
		"AllAlpha=true," + malformed + "=false":       {"AllAlpha": true, malformed: false},
		"kube:" + malformed + "=1,kube:WatchList=f":   {malformed: true, "WatchList": false},
		malformed + "=true, " + malformed + "=false":  {malformed: false},
		"kube:WatchList=false, kube:AllAlpha=true,":   {"WatchList": false, "AllAlpha": true},
		"JobManagedBy=true,AllowDNSOnlyNodeCSR=false": {"JobManagedBy": true, "AllowDNSOnlyNodeCSR": false},
	} {
		o, _ := asAPIServerWith(t, "--feature-gates="+value)
		if got := o.API.FeatureGates; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
	}
	_, f := asAPIServerWith(t, "--feature-gates=WatchList=true,JobManagedBy=true", "--feature-gates=KMSv1=true")
	if want := []string{"JobManagedBy", "KMSv1"}; !slices.Equal(f.Fading, want) {
		t.Errorf("%q, want %q", f.Fading, want)
	}
	for value, want := range map[string]string{
		"Nonsense=true": "unrecognized feature gate: Nonsense", "MyFeature=true": "unrecognized feature gate: MyFeature",
		"HonorPVReclaimPolicy=true": "unrecognized feature gate: HonorPVReclaimPolicy", // removed in v1.36
		"SidecarContainers=true":    "unrecognized feature gate: SidecarContainers",    // and in v1.37 (V-034)
		"RetryGenerateName=false":   "unrecognized feature gate: RetryGenerateName",
		"JobManagedBy=false":        "cannot set feature gate JobManagedBy to false, feature is locked to true",
		"JobManagedBy=false,SELinuxChangePolicy=false": "[cannot set feature gate JobManagedBy to false, feature is locked " +
			"to true, cannot set feature gate SELinuxChangePolicy to false, feature is locked to true]",
		"WatchList=maybe":      `invalid value of WatchList=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"WatchList":            "missing bool value for WatchList",
		"wardle:WatchList=off": "component not registered: wardle",
		"kube:WatchList=true,JobManagedBy=true": "set kube feature gates with default empty prefix or kube: prefix " +
			"consistently, do not mix use",
	} {
		args := append(slices.Clone(envtest), "--feature-gates="+value)
		if _, _, err := apiServerOptions(args, io.Discard); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
	}
}
