package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/internal/cluster"
)

// connection finds a server as kubectl does, by a kubeconfig and kubectl's flags.
type connection struct {
	target
	overrides clientcmd.ConfigOverrides // names in the kubeconfig, and the impersonated user
	namespace string
	client    *cluster.Client // dial sets it
}

// access declares the flags that name the server, the user and the namespace.
func (to *connection) access(c *cobra.Command) {
	to.identity(c)
	c.Flags().StringVarP(&to.namespace, "namespace", "n", "", "namespace of the objects; that of the context by default")
}

// identity declares the flags that name the server and the user.
func (to *connection) identity(c *cobra.Command) {
	f, o := c.Flags(), &to.overrides
	to.target.flags(f)
	offer(c, "context", func(*cobra.Command, string) []string {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = to.kubeconfig
		return contextsOf(rules)
	})
	f.Lookup("kubeconfig").Usage = "kubeconfig file; KUBECONFIG or ~/.kube/config by default"
	f.StringVar(&o.Context.Cluster, "cluster", "", "cluster of the kubeconfig to use instead of the context's")
	f.StringVar(&o.Context.AuthInfo, "user", "", "user of the kubeconfig to use instead of the context's")
	f.StringVar(&o.AuthInfo.Impersonate, "as", "", "user to impersonate")
	f.StringArrayVar(&o.AuthInfo.ImpersonateGroups, "as-group", nil, "group to impersonate; may be repeated")
}

// dial finds the server as kubectl does.
func (to *connection) dial() error {
	rules, o := clientcmd.NewDefaultClientConfigLoadingRules(), &to.overrides
	rules.ExplicitPath = to.kubeconfig
	o.CurrentContext, o.AuthInfo.Token = to.context, to.token
	o.ClusterInfo.Server, o.ClusterInfo.InsecureSkipTLSVerify = to.server, to.insecure
	o.ClusterInfo.CertificateAuthority = to.authority
	load := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, o)
	c, err := load.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return errUsage{errors.New("no cluster: set KUBECONFIG, or use --kubeconfig or --server")}
	}
	if err == nil && to.namespace == "" {
		to.namespace, _, err = load.Namespace()
	}
	if err != nil {
		return errUnable{fmt.Errorf("kubeconfig: %w", err)}
	}
	c.UserAgent = "kubecascade"
	found, err := connect(c)
	to.client = (*cluster.Client)(found)
	return err
}
