package upstream

import (
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// WriteKubeconfig writes a kubeconfig with a server and its user.
func WriteKubeconfig(c *rest.Config, file string) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData, TLSServerName: c.ServerName}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: c.BearerToken}
	k.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "c"
	return clientcmd.WriteToFile(*k, file)
}

// Start starts a server with data in the directory, and returns the configuration of its administrator. Without sync,
// etcd acknowledges writes before they are on the disk.
func Start(log servertesting.Logger, dir string, sync bool) (config *rest.Config, stop func(), err error) {
	// Upstream's flags require a kubeconfig, but the server in it is never called.
	file := filepath.Join(dir, "kubeconfig-none")
	if err := WriteKubeconfig(&rest.Config{Host: "http://127.0.0.1:1"}, file); err != nil {
		return nil, nil, err
	}
	e, err := startEtcd(filepath.Join(dir, "etcd"), sync)
	if err != nil {
		return nil, nil, err
	}
	s, err := servertesting.StartTestServer(log, nil, []string{
		"--etcd-prefix=registry", "--etcd-servers=http://" + e.Clients[0].Addr().String(), "--authentication-skip-lookup",
		"--authentication-kubeconfig=" + file, "--authorization-kubeconfig=" + file, "--kubeconfig=" + file,
		"--enable-priority-and-fairness=false", // this and these plugins would call a kube-apiserver
		"--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook," +
			"ValidatingAdmissionPolicy,MutatingAdmissionPolicy",
	}, nil)
	if err != nil {
		e.Close()
		return nil, nil, err
	}
	return s.ClientConfig, func() {
		s.TearDownFn()
		e.Close()
	}, nil
}

// startEtcd starts an etcd, and returns when it is ready.
func startEtcd(dir string, sync bool) (*embed.Etcd, error) {
	c := embed.NewConfig()
	u := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.Dir, c.ListenClientUrls, c.ListenPeerUrls = dir, []url.URL{u}, []url.URL{u}
	c.LogLevel, c.UnsafeNoFsync = "fatal", !sync
	e, err := embed.StartEtcd(c)
	if err == nil {
		<-e.Server.ReadyNotify()
	}
	return e, err
}
