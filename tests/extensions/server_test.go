package extensions

import (
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/tests/extensions/upstream"
)

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
