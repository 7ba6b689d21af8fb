package extensions

import (
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/tests/e2e/extensions/upstream"
	"github.com/kubecascade/kubecascade/tests/process"
)

func TestMain(m *testing.M) { os.Exit(process.Run(m, nil)) }

func startUpstream(t *testing.T) *server {
	config, stop, err := upstream.Start(t, t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &server{
		url: config.Host, client: client, token: config.BearerToken,
		uids: map[string]string{}, revisions: map[string]string{},
	}
}

func startOurs(t *testing.T) *server {
	s := apiservertest.Start(t, nil)
	return &server{bare: true, url: s.URL, client: s.Client, uids: map[string]string{}, revisions: map[string]string{}}
}
