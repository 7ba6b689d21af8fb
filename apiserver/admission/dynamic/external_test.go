package dynamic_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// startEtcd returns the URL of an etcd server that runs until the test ends.
func startEtcd(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "etcd") // t.TempDir has too long a name for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // the system cleans up what can't be removed
	c := embed.NewConfig()
	c.Dir = filepath.Join(dir, "data")
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	c.TickMs, c.ElectionMs, c.UnsafeNoFsync = 10, 50, true
	peer := url.URL{Scheme: "unix", Path: filepath.Join(dir, "peer")}
	client := url.URL{Scheme: "unix", Path: filepath.Join(dir, "client")}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.InitialCluster = c.Name + "=" + peer.String()
	server, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	<-server.Server.ReadyNotify()
	return client.String()
}

// TestServersOverOneEtcdShareConfigurations: two servers use one external etcd, each with its own connection and cache.
// A webhook or policy that one server stores or removes takes effect for the next request to the other server. Stored
// ones apply to the first request of a server (O-01, L-S22).
func TestServersOverOneEtcdShareConfigurations(t *testing.T) {
	etcd, hook := startEtcd(t), webhooktest.Start(t)
	hook.Script(webhooktest.Respond(&admissionv1.AdmissionResponse{Result: deny(403, "Forbidden", "no")}))
	over := func(disabled ...string) *cluster {
		store := storagetest.OpenConfig(t, storage.Config{Endpoints: []string{etcd}})
		return &cluster{apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
			c.DisableAdmission = disabled
		}}), t, hook}
	}
	a, b := over(), over("NamespaceLifecycle") // which reads the namespace by a consistent read
	const match = `{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],` +
		`"resources":["configmaps"]}]}`
	a.want(201, "POST", hookConfigs+"validatingadmissionpolicies", policyOf("Validating", "p", match, valid("false")))
	create := func(c *cluster, code int) {
		t.Helper()
		c.want(code, "POST", maps, `{"metadata":{"generateName":"m"}}`)
	}
	requests := []struct {
		method, path, body string
		code               int
	}{
		{"POST", maps, `{"metadata":{"generateName":"m"}}`, 201},
		{"POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"generateName":"r"}}`, 201},
		{"POST", pods + "/p/exec", "", 404},
	}
	for i := range 50 {
		writer, reader, r := a, b, requests[i/2%len(requests)]
		if i%2 > 0 {
			writer, reader = b, a
		}
		name := fmt.Sprint("h", i)
		writer.register("Validating", name, "/", rule("*", "*", "*", "*/*"))
		reader.want(403, r.method, r.path, r.body)
		writer.want(200, "DELETE", hookConfigs+"validatingwebhookconfigurations/"+name, nil)
		reader.want(r.code, r.method, r.path, r.body)
		writer.want(201, "POST", hookConfigs+"validatingadmissionpolicybindings", bindingOf("Validating", name, "p"))
		create(reader, 422)
		writer.want(200, "DELETE", hookConfigs+"validatingadmissionpolicybindings/"+name, nil)
		create(reader, 201)
	}
	a.want(201, "POST", hookConfigs+"validatingadmissionpolicybindings", bindingOf("Validating", "kept", "p"))
	create(over(), 422)
	b.want(200, "DELETE", hookConfigs+"validatingadmissionpolicybindings/kept", nil)
	b.register("Validating", "kept", "/", rule("CREATE", "", "v1", "configmaps"))
	create(over(), 403)
}
