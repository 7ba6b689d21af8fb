package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/conformance"
)

// target is the tested server, with the client's credentials.
type target struct {
	server, kubeconfig, context string
	token, authority            string
	insecure                    bool
}

func (t *target) flags(f *pflag.FlagSet) {
	f.StringVar(&t.server, "server", "", "URL of the server; overrides the one in --kubeconfig")
	f.StringVar(&t.kubeconfig, "kubeconfig", "", "kubeconfig file with the server and the credentials")
	f.StringVar(&t.context, "context", "", "context of the kubeconfig to use instead of its current context")
	f.StringVar(&t.token, "token", "", "bearer token")
	f.StringVar(&t.authority, "certificate-authority", "",
		"file with the CA certificate that verifies the server's certificate")
	f.BoolVar(&t.insecure, "insecure-skip-tls-verify", false, "don't verify the server's certificate")
}

// client uses a kubeconfig, or flags alone. It uses no kubeconfig by default, so that no cluster is tested by accident.
func (t *target) client() (*conformance.Client, error) {
	c, err := t.config()
	if err != nil {
		return nil, err
	}
	return connect(c)
}

// connect returns a client.
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

// config has the server's URL, and the user's credentials.
func (t *target) config() (*rest.Config, error) {
	if t.server == "" && t.kubeconfig == "" {
		return nil, errUsage{errors.New("--server or --kubeconfig is required")}
	}
	if t.context != "" && t.kubeconfig == "" {
		return nil, errUsage{errors.New("--context requires --kubeconfig")}
	}
	c := &rest.Config{Host: t.server}
	if t.kubeconfig != "" {
		overrides := &clientcmd.ConfigOverrides{CurrentContext: t.context}
		overrides.ClusterInfo.Server = t.server
		var err error
		c, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{
			ExplicitPath: t.kubeconfig,
		}, overrides).ClientConfig()
		if err != nil {
			return nil, errUnable{fmt.Errorf("--kubeconfig: %w", err)}
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
