package kubeapiserver

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// check returns the errors of kube-apiserver's validation of flags that are needed or have a range.
func (f *Flags) check() (errs []error) {
	add := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	// AS pkg/server/options/server_run_options.go: Validate
	add(f.number("max-requests-inflight") < 0, "--max-requests-inflight can not be negative value")
	add(f.mutating < 0, "--max-mutating-requests-inflight can not be negative value")
	add(f.duration("request-timeout") < 0, "--request-timeout can not be negative value")
	chance, _ := f.GetFloat64("goaway-chance") // the flag is a float
	add(chance < 0 || chance > 0.02,
		"--goaway-chance can not be less than 0 or greater than 0.02")
	add(f.number("min-request-timeout") < 0, "--min-request-timeout can not be negative value")
	add(f.duration("shutdown-delay-duration") < 0, "--shutdown-delay-duration can not be negative value")
	// AS pkg/server/options/etcd.go: Validate
	add(len(f.list("etcd-servers")) == 0, "--etcd-servers must be specified")
	// AS pkg/server/options/serving.go: Validate
	port := f.number("secure-port")
	add(port < 1 || port > 65535,
		"--secure-port %d must be between 1 and 65535, inclusive. It cannot be turned off with 0", port)
	return append(errs, f.checkAccounts()...)
}

// checkLogs validates the flags of logs before all others (component-base logs/api/v1/options.go: Validate).
func (f *Flags) checkLogs() error {
	if format := f.text("logging-format"); format != "text" && format != "json" {
		return field.Invalid(field.NewPath("format"), format, "Unsupported log format")
	}
	return nil
}

// checkAccounts validates what service account tokens need (K pkg/kubeapiserver/options/authentication.go: Validate, K
// pkg/controlplane/apiserver/options/validation.go: validateTokenRequest). The flags have upstream's defaults
// (Complete): without a signing key, the key of the serving certificate verifies tokens.
func (f *Flags) checkAccounts() (errs []error) {
	issuers := f.list("service-account-issuer")
	signer := f.text("service-account-signing-key-file") != "" || f.Changed("service-account-signing-endpoint")
	if len(issuers) == 0 {
		errs = append(errs, errors.New("service-account-issuer is a required flag"))
	}
	if signer && len(f.list("service-account-key-file")) == 0 && !f.Changed("service-account-signing-endpoint") {
		errs = append(errs,
			errors.New("either `--service-account-key-file` or `--service-account-signing-endpoint` must be set"))
	}
	switch attempted := signer || len(issuers) > 0 || len(f.list("api-audiences")) > 0; {
	case !attempted:
		errs = append(errs,
			errors.New("--service-account-signing-key-file and --service-account-issuer are required flags"))
	case !signer || len(issuers) == 0:
		errs = append(errs, errors.New(
			"--service-account-signing-key-file, --service-account-issuer, and --api-audiences should be specified together"))
	}
	return errs
}

// modes returns the authorization modes that are available here (K pkg/kubeapiserver/options/authorization.go). Without
// kubelets the mode Node allows nothing.
func modes(given []string) ([]string, error) {
	if len(given) == 0 {
		return []string{"AlwaysAllow"}, nil
	}
	var here []string
	for i, m := range given {
		switch {
		case slices.Contains(given[:i], m):
			return nil, fmt.Errorf("authorization-mode %q has mode specified more than once", given)
		case slices.Contains([]string{"ABAC", "Webhook"}, m):
			return nil, fmt.Errorf("authorization-mode %q is not available in kubecascade", m)
		case slices.Contains([]string{"AlwaysAllow", "AlwaysDeny", "RBAC"}, m):
			here = append(here, m)
		case m != "Node":
			return nil, fmt.Errorf("authorization-mode %q is not a valid mode", m)
		}
	}
	if here == nil {
		here = []string{"AlwaysDeny"}
	}
	return here, nil
}

// ofIPv4 returns the range of IPv4 addresses of a list of ranges, or the first one if there is none.
func ofIPv4(ranges string) string {
	all := strings.Split(ranges, ",")
	for _, r := range all {
		if ip, _, err := net.ParseCIDR(strings.TrimSpace(r)); err == nil && ip.To4() != nil {
			return strings.TrimSpace(r)
		}
	}
	return all[0]
}
