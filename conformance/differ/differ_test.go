package differ_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/conformance/differ"
	"github.com/kubecascade/kubecascade/conformance/drive"
	"github.com/kubecascade/kubecascade/conformance/model"
	"github.com/kubecascade/kubecascade/kubecascadetest"
)

const collector = "garbage-collector-controller"

// start returns the URL of a server with the namespace controller, and other controllers.
func start(t *testing.T, controllers ...string) string {
	t.Helper()
	return kubecascadetest.New(t, func(o *kubecascade.Options) {
		o.Addresses.InsecurePort, o.Controllers.Enabled = -1, append(controllers, "namespace-controller")
	}).InsecureURL()
}

// at returns the server at a URL, with a client that keeps enough connections.
func at(t *testing.T, url string) drive.Server {
	tr := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(tr.CloseIdleConnections)
	return drive.Server{URL: url, Client: &http.Client{Transport: tr}}
}

// TestEqualServersDoNotDiffer: equal servers show no difference. After each operation they show what the model expects,
// so no operation waits until Settle has passed.
func TestEqualServersDoNotDiffer(t *testing.T) {
	c := differ.Config{Reference: at(t, start(t, collector)), Candidate: at(t, start(t, collector)), Settle: time.Hour}
	for seed := range uint64(6) {
		c.Prefix = string('a'+rune(seed)) + "-"
		f, err := differ.Find(t.Context(), c, seed+101, 200)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			t.Fatalf("seed %d: %s\n%s", seed+101, f.Difference, f.Script())
		}
	}
}

// TestCollectionWithoutNetEffectIsAwaited: the differ also waits for collections after which the state is as before.
// One collector is slower than the other, and the next operation creates an object with the name of the last one.
func TestCollectionWithoutNetEffectIsAwaited(t *testing.T) {
	c := differ.Config{Reference: at(t, start(t, collector)), Candidate: at(t, start(t)), Prefix: "a-"}
	for _, resource := range []string{"secrets", "configmaps"} {
		go collectSlowly(c.Candidate.Client, c.Candidate.URL+"/api/v1/", resource)
	}
	var ops []model.Op
	for id := range 30 {
		ops = append(ops, model.Op{ID: id + 1, Verb: model.Create, Key: model.Key{Kind: "Secret", Namespace: "a", Name: "n0"},
			Owners: []model.Owner{{APIVersion: "v1", Kind: "Secret", Name: "absent", UID: "x0"}}})
	}
	if d, err := differ.Run(t.Context(), &c, ops); d != nil || err != nil {
		t.Errorf("%v %v", d, err)
	}
}

// collectSlowly deletes each new object of a type that has an owner, some time after its event, until the server ends.
func collectSlowly(client *http.Client, api, resource string) {
	res, err := client.Get(api + resource + "?watch=true")
	if err != nil {
		return
	}
	defer res.Body.Close()
	for events := json.NewDecoder(res.Body); ; {
		var e struct {
			Type   string
			Object metav1.PartialObjectMetadata
		}
		if err := events.Decode(&e); err != nil {
			return
		}
		if e.Type != "ADDED" || len(e.Object.OwnerReferences) == 0 {
			continue
		}
		time.Sleep(20 * time.Millisecond)
		path := api + "namespaces/" + e.Object.Namespace + "/" + resource + "/" + e.Object.Name
		if r, err := http.NewRequest(http.MethodDelete, path, nil); err == nil {
			if a, err := client.Do(r); err == nil {
				a.Body.Close()
			}
		}
	}
}

// TestServerWithoutCollectorDiffers: a server without a collector is found to differ, and the difference is reduced to
// few operations.
func TestServerWithoutCollectorDiffers(t *testing.T) {
	c := differ.Config{Reference: at(t, start(t, collector)), Candidate: at(t, start(t)),
		BuiltIn: true, Prefix: "a-", Settle: 300 * time.Millisecond}
	f, err := differ.Find(t.Context(), c, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		t.Fatal("no difference was found")
	}
	if len(f.Ops) > 3 || !f.Repeated {
		t.Errorf("reduced to %d operations only: %v", len(f.Ops), f.Ops)
	}
	t.Logf("%s\n%s", f.Difference, f.Script())
	clean(t, c)
}

// TestWrongDeletionAtTheEndIsFound: a wrong deletion by a collector is found, even if no operation follows it.
func TestWrongDeletionAtTheEndIsFound(t *testing.T) {
	secret := "/api/v1/namespaces/a-a/secrets/n0"
	cand := start(t, collector)
	c := differ.Config{Reference: at(t, start(t, collector)), Prefix: "a-", Settle: time.Second}
	c.Candidate = at(t, proxy(t, cand, func(r *http.Request) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/configmaps") {
			return
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, cand+secret, nil)
		if err != nil {
			t.Error(err)
			return
		}
		a, err := c.Candidate.Client.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		a.Body.Close()
	}, func(*http.Response) {}))
	d, err := differ.Run(
		t.Context(), &c, []model.Op{{ID: 1, Verb: model.Create, Key: model.Key{Kind: "Secret", Namespace: "a", Name: "n0"}}},
	)
	if err != nil || d == nil || !strings.Contains(d.Candidate, "DELETED Secret/a/n0") {
		t.Errorf("%v %v", d, err)
	}
}

// proxy forwards the differ's requests to a server.
func proxy(t *testing.T, server string, before func(*http.Request), change func(*http.Response)) string {
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1,
		Rewrite:        func(r *httputil.ProxyRequest) { before(r.In); r.SetURL(to) },
		ModifyResponse: func(r *http.Response) error { change(r); return nil },
	})
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

// TestDifferenceThatIsNotReproducedIsNotReduced: a difference that isn't reproduced is reported as such, and not
// reduced to another one.
func TestDifferenceThatIsNotReproducedIsNotReduced(t *testing.T) {
	var answers atomic.Int64
	c := differ.Config{Reference: at(t, start(t, collector)),
		Candidate: at(t, proxy(t, start(t, collector), func(*http.Request) {}, func(r *http.Response) {
			if r.Request.Method == "DELETE" && answers.Add(1) == 5 {
				r.StatusCode, r.Body = http.StatusTeapot, io.NopCloser(bytes.NewBufferString("{}"))
				r.Header.Del("Content-Length")
			}
		})), Prefix: "a-"}
	var progress []string
	c.Progress = func(s string) { progress = append(progress, s) }
	f, err := differ.Find(t.Context(), c, 3, 100)
	if err != nil || f == nil {
		t.Fatalf("%v %v", f, err)
	}
	if f.Repeated || len(f.Ops) < 5 || !strings.Contains(f.Difference.Candidate, "418") {
		t.Errorf("repeated %v, %d operations: %s", f.Repeated, len(f.Ops), f.Difference)
	}
	if len(progress) < 6 || !strings.HasSuffix(progress[len(progress)-1], "sending them again") {
		t.Errorf("progress %q", progress)
	}
}

// clean deletes everything that a run created, and verifies it.
func clean(t *testing.T, c differ.Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as after an interruption
	if left, err := differ.Clean(ctx, c); err != nil || len(left) > 0 {
		t.Errorf("left is %q, %v", left, err)
	}
	for _, server := range []drive.Server{c.Reference, c.Candidate} {
		for _, path := range []string{
			"/api/v1/namespaces", "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/storage.k8s.io/v1/storageclasses",
			"/api/v1/configmaps",
		} {
			a, err := server.Client.Get(server.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(a.Body)
			a.Body.Close()
			if err != nil || bytes.Contains(body, []byte(`"`+c.Prefix)) {
				t.Errorf("%s: %v %s", path, err, body)
			}
		}
	}
}

// TestInterruptedRunIsCleanedUp: objects that were created before an interruption are deleted, too.
func TestInterruptedRunIsCleanedUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	c := differ.Config{Reference: at(t, start(t, collector)), Candidate: at(t, start(t, collector)),
		Prefix: "a-", Progress: func(string) {
			if n++; n == 60 {
				cancel()
			}
		}}
	if _, err := differ.Find(ctx, c, 2, 300); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	clean(t, c)
}

// TestInterruptedReductionIsReported: a difference that was not repeated because of the timeout isn't reported as not
// reproduced.
func TestInterruptedReductionIsReported(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := differ.Config{Reference: at(t, start(t, collector)), Candidate: at(t, start(t)),
		BuiltIn: true, Prefix: "a-", Settle: 300 * time.Millisecond}
	c.Progress = func(s string) {
		if strings.HasSuffix(s, "sending them again") {
			cancel()
		}
	}
	f, err := differ.Find(ctx, c, 1, 100)
	if err == nil || f == nil || f.Repeated || !f.Interrupted {
		t.Errorf("%+v %v", f, err)
	}
}
