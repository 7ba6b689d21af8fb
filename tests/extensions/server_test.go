package extensions

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// kubeconfig names a kube-apiserver that is never called; upstream's flags require one.
const kubeconfig = `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: http://127.0.0.1:1
  name: none
contexts:
- context:
    cluster: none
    user: none
  name: none
current-context: none
users:
- name: none
`

func startUpstream(t *testing.T) *server {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := servertesting.StartTestServer(t, nil, []string{
		"--etcd-prefix=registry", "--etcd-servers=" + startEtcd(t), "--authentication-skip-lookup",
		"--authentication-kubeconfig=" + file, "--authorization-kubeconfig=" + file, "--kubeconfig=" + file,
		"--enable-priority-and-fairness=false", // this and these plugins call kube-apiserver
		"--disable-admission-plugins=NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy,MutatingAdmissionPolicy",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.TearDownFn)
	client, err := rest.HTTPClientFor(s.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	return &server{
		url: s.ClientConfig.Host, client: client, token: s.ClientConfig.BearerToken,
		uids: map[string]string{}, revisions: map[string]string{},
	}
}

func startEtcd(t *testing.T) (address string) {
	c := embed.NewConfig()
	u := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c.Dir, c.ListenClientUrls, c.ListenPeerUrls = t.TempDir(), []url.URL{u}, []url.URL{u}
	c.LogLevel, c.UnsafeNoFsync = "fatal", true
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return "http://" + e.Clients[0].Addr().String()
}

func startOurs(t *testing.T) *server {
	s := apiservertest.Start(t, nil)
	return &server{bare: true, url: s.URL, client: s.Client, uids: map[string]string{}, revisions: map[string]string{}}
}
