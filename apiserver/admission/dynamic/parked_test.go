package dynamic_test

import (
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

const secrets = "/api/v1/namespaces/default/secrets"

// gate lets reviews wait until it opens.
type gate struct {
	asked chan struct{}
	open  func()
}

// close makes the webhook wait from now on. It keeps nothing of the objects in the reviews.
func (c *cluster) close() *gate {
	open := make(chan struct{})
	g := &gate{make(chan struct{}, 1000), sync.OnceFunc(func() { close(open) })}
	c.hook.Script(func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		*review = admissionv1.AdmissionReview{
			TypeMeta: review.TypeMeta, Request: &admissionv1.AdmissionRequest{UID: review.Request.UID},
		}
		g.asked <- struct{}{}
		<-open
		webhooktest.Allow(w, review)
	})
	c.t.Cleanup(g.open)
	return g
}

// heldMemory is the sum of the estimates of the requests that are being served.
func (c *cluster) heldMemory() int64 {
	text := string(c.want(200, "GET", "/metrics", nil).Body)
	m := regexp.MustCompile(`(?m)^kubecascade_inflight_memory_held_bytes (\S+)`).FindStringSubmatch(text)
	if m == nil {
		c.t.Fatal("no metric")
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return int64(n)
}

// TestParkedMemory: requests that wait for webhooks do not hold all memory: those that no webhook matches are served
// meanwhile. All of them get their memory back in the end, though there is not enough for all at the same time.
func TestParkedMemory(t *testing.T) {
	const limit, users = 256 << 20, 4
	requests := 40
	if testing.Short() {
		requests = 12 // of which four get all of their memory at the same time
	}
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.MemoryInFlight, c.RequestTimeout = limit, 4*time.Minute
	}})
	c := &cluster{s, t, webhooktest.Start(t)}
	g := c.close()
	c.register("Validating", "v", "/v", rule("CREATE", "", "v1", "configmaps"), `"timeoutSeconds":30`)
	c.register("Mutating", "m", "/m", rule("CREATE", "", "v1", "configmaps"), `"timeoutSeconds":30`)
	body := `{"metadata":{"name":"m%d"},"data":{"a":"` + strings.Repeat("x", 900_000) + `"}}`
	results := make(chan error, requests)
	for i := range requests {
		go func() {
			a, err := c.Try("POST", maps, fmt.Sprintf(body, i), "Impersonate-User", fmt.Sprint("user", i%users))
			if err == nil && a.Code != http.StatusCreated {
				err = fmt.Errorf("%d %.300s", a.Code, a.Body)
			}
			results <- err
		}()
	}
	const together = 6 // with all of their memory there would be four
	for range together {
		select {
		case <-g.asked:
		case err := <-results:
			t.Fatalf("a request ended before its webhook was asked: %v", err)
		}
	}
	secret := `{"metadata":{"name":"s%d"},"stringData":{"a":"` + strings.Repeat("x", 900_000) + `"}}`
	for i := range users {
		a, err := c.Try("POST", secrets, fmt.Sprintf(secret, i), "Impersonate-User", fmt.Sprint("user", i))
		if err != nil || a.Code != http.StatusCreated {
			t.Errorf("a request that no webhook matches: %v %d %.300s", err, a.Code, a.Body)
		}
	}
	g.open()
	for range requests {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if held := c.heldMemory(); held != 0 {
		t.Errorf("%d bytes are held by no one", held)
	}
}

// TestParkedPart: a request that waits for a webhook takes no more memory than it holds then. What this test's client
// and webhook keep of it is included.
func TestParkedPart(t *testing.T) {
	c := start(t)
	all := "configmaps pods secrets"
	c.register("Validating", "v", "/v", rule("CREATE", "", "v1", all), `"timeoutSeconds":30`)
	env := many(20_000, `{"name":"abcdefgh","value":"12345678"}`)
	var keys strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&keys, `"key%d":"v",`, i)
	}
	for _, b := range []struct{ what, path, body string }{
		{"a long string", maps, `{"metadata":{"name":"m"},"data":{"a":"` + strings.Repeat("x", 900_000) + `"}}`},
		{"many strings", maps, `{"metadata":{"name":"k"},"data":{` + keys.String() + `"last":"v"}}`},
		{"bytes", secrets, `{"metadata":{"name":"s"},"data":{"a":"` + strings.Repeat("xxxx", 225_000) + `"}}`},
		{"structs", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"b","env":[` + env + `]}]}}`},
	} {
		g := c.close()
		before := heap()
		result := make(chan error, 1)
		go func() {
			a, err := c.Try("POST", b.path, b.body)
			if err == nil && a.Code != http.StatusCreated {
				err = fmt.Errorf("%d %.300s", a.Code, a.Body)
			}
			result <- err
		}()
		select {
		case <-g.asked:
		case err := <-result:
			t.Fatal(err)
		}
		c.hook.Seen() // keeps the reviews
		held, took := c.heldMemory(), heap()-before
		t.Logf("%s: %d bytes take %d, %d are held", b.what, len(b.body), took, held)
		if took > held {
			t.Errorf("%s: the request takes %d bytes while it waits, and holds %d", b.what, took, held)
		}
		if held > 24*int64(len(b.body)) {
			t.Errorf("%s: %d bytes are held for a body of %d", b.what, held, len(b.body))
		}
		g.open()
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
}

// many is n times an element of a list.
func many(n int, elem string) string { return elem + strings.Repeat(","+elem, n-1) }

// heap is the size of all objects on the heap, without garbage.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what was pooled
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
