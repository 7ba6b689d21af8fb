package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/conformance"
)

// target has the flags for the tested server and the client's credentials.
type target struct {
	server, kubeconfig, context string
	token, authority            string
	insecure                    bool
	// environmental reports whether the command uses $KUBECONFIG.
	environmental bool
}

// kubeconfigs returns the files of $KUBECONFIG, as kubectl reads it.
func kubeconfigs() []string {
	files := filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	return slices.DeleteFunc(files, func(path string) bool { return path == "" })
}

// flags declares the flags of a command that does not use $KUBECONFIG.
func (t *target) flags(f *pflag.FlagSet) { t.declare(f, "") }

// environmentNote is a part of the help of --kubeconfig.
const environmentNote = " (default the files of $KUBECONFIG, unless --server is given without --context)"

// flagsOrEnvironment declares the flags of a command that uses $KUBECONFIG, too.
func (t *target) flagsOrEnvironment(f *pflag.FlagSet) {
	t.environmental = true
	t.declare(f, environmentNote)
}

// usesEnvironment reports whether the flags are those of flagsOrEnvironment.
func usesEnvironment(f *pflag.FlagSet) bool {
	return strings.HasSuffix(f.Lookup("kubeconfig").Usage, environmentNote)
}

func (t *target) declare(f *pflag.FlagSet, note string) {
	f.StringVar(&t.server, "server", "", "URL of the server; overrides the one in --kubeconfig")
	f.StringVar(&t.kubeconfig, "kubeconfig", "", "kubeconfig file with the server and the credentials"+note)
	f.StringVar(&t.context, "context", "", "context of the kubeconfig to use instead of its current context")
	f.StringVar(&t.token, "token", "", "bearer token")
	f.StringVar(&t.authority, "certificate-authority", "",
		"file with the CA certificate that verifies the server's certificate")
	f.BoolVar(&t.insecure, "insecure-skip-tls-verify", false, "don't verify the server's certificate")
}

// client returns a client by a kubeconfig, or by flags alone. It doesn't use ~/.kube/config, so that no cluster is
// tested by accident.
func (t *target) client() (*conformance.Client, error) {
	c, err := t.config()
	if err != nil {
		return nil, err
	}
	return connect(c)
}

func connect(c *rest.Config) (*conformance.Client, error) {
	base, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return nil, errUsage{fmt.Errorf("--server: %w", err)}
	}
	h, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, errUnable{err}
	}
	return &conformance.Client{URL: strings.TrimRight(base.String(), "/"), HTTP: h}, nil
}

// files returns the kubeconfig files, and their name in errors; nil if only flags are used. With --server, $KUBECONFIG
// is used only if --context is given: otherwise the server could get the credentials for another one.
func (t *target) files() (rules *clientcmd.ClientConfigLoadingRules, name string) {
	if t.kubeconfig != "" {
		return &clientcmd.ClientConfigLoadingRules{ExplicitPath: t.kubeconfig}, "--kubeconfig"
	}
	if files := kubeconfigs(); t.environmental && len(files) > 0 && (t.server == "" || t.context != "") {
		return &clientcmd.ClientConfigLoadingRules{Precedence: files}, "$" + clientcmd.RecommendedConfigPathEnvVar
	}
	return nil, ""
}

// config returns the server's URL, and the user's credentials.
func (t *target) config() (*rest.Config, error) {
	files, name := t.files()
	sources := "--kubeconfig"
	if t.environmental {
		sources = "--kubeconfig or $KUBECONFIG"
	}
	if t.server == "" && files == nil {
		return nil, errUsage{fmt.Errorf("one of --server, %s is required", sources)}
	}
	if t.context != "" && files == nil {
		return nil, errUsage{fmt.Errorf("--context requires %s", sources)}
	}
	c := &rest.Config{Host: t.server}
	if files != nil {
		overrides := &clientcmd.ConfigOverrides{CurrentContext: t.context}
		overrides.ClusterInfo.Server = t.server
		var err error
		c, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(files, overrides).ClientConfig()
		if err != nil {
			return nil, errUnable{fmt.Errorf("%s: %w", name, err)}
		}
	}
	if t.token != "" {
		c.BearerToken, c.BearerTokenFile = t.token, ""
	}
	if t.authority != "" {
		c.CAFile, c.CAData = t.authority, nil
	}
	if t.insecure {
		c.Insecure, c.CAFile, c.CAData = true, "", nil
	}
	return c, nil
}
