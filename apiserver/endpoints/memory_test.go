package endpoints_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

const pods = "/api/v1/namespaces/default/pods"

const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// many is n times an element of a list.
func many(n int, elem string) string { return elem + strings.Repeat(","+elem, n-1) }

// TestEmptyElements: a body of three megabytes that needs hundreds when decoded is rejected before it is decoded,
// whatever its kind.
func TestEmptyElements(t *testing.T) {
	const million = 1_000_000
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.MemoryInFlight = 256 << 20
	}})
	defineOpen(t, s)
	list := func(head, elem, tail string) string { return head + many(million, elem) + tail }
	cases := []struct{ what, path, media, body string }{
		{
			"containers", pods + "?dryRun=All", "application/json",
			list(`{"metadata":{"name":"a"},"spec":{"containers":[`, "{}", `]}}`),
		},
		{
			"numbers for containers", pods + "?dryRun=All", "application/json",
			list(`{"metadata":{"name":"a"},"spec":{"containers":[`, "0", `]}}`),
		},
		{
			"a Pod as a ConfigMap", configmaps + "?dryRun=All", "application/json",
			list(`{"spec":{"containers":[`, "{}", `]},"kind":"Pod","apiVersion":"v1"}`),
		},
		{"managers", reviews, "application/json", managers(million)},
		{"managers in YAML", reviews, "application/yaml", managers(million)},
		{
			"custom", opens + "?dryRun=All", "application/json",
			list(`{"apiVersion":"open.test/v1","kind":"Open","metadata":{"name":"a"},"spec":[`, "{}", `]}`),
		},
	}
	for _, c := range cases {
		a := s.Do("POST", c.path, c.body, "Content-Type", c.media)
		if st := a.Status(); a.Code != http.StatusRequestEntityTooLarge ||
			st.Reason != metav1.StatusReasonRequestEntityTooLarge || !strings.Contains(st.Message, "memory") {
			t.Errorf("%s: %d %.300s", c.what, a.Code, a.Body)
		}
	}
	if n := metric(t, s, "kubecascade_inflight_memory_rejected_total{", `reason="too-large"`); n != float64(len(cases)) {
		t.Errorf("%v were counted", n)
	}
}

// managers is a review whose managedFields have n empty elements.
func managers(n int) string {
	return `{"metadata":{"managedFields":[` + many(n, "{}") +
		`]},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`
}

const policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"

// rules is a network policy with n empty rules.
func rules(n int) string {
	return `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"a"},"spec":{"podSelector":{},"ingress":[` + many(
		n, "{}",
	) + `]}}`
}

// TestMemoryInFlight: of many concurrent large bodies, only as many are decoded at a time as there is memory for, and
// all are processed. Small requests are processed meanwhile.
func TestMemoryInFlight(t *testing.T) {
	const limit = 64 << 20
	n := 16
	if testing.Short() {
		n = 4 // of which not all are decoded at the same time
	}
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		// Requests wait for memory for a quarter of the timeout, which must be enough on a slow machine.
		c.MemoryInFlight, c.RequestTimeout = limit, time.Hour
	}})
	body := rules(100_000)
	var held int64
	stop := make(chan struct{})
	var watching, posting sync.WaitGroup
	watching.Go(func() {
		for done := false; !done; {
			select {
			case <-stop:
				done = true
			default:
			}
			must(t, s.Do("GET", configmaps, nil), http.StatusOK)
			held = max(held, int64(metric(t, s, "kubecascade_inflight_memory_held_bytes")))
		}
	})
	for range n {
		posting.Go(func() {
			if a, err := s.Try("POST", policies+"?dryRun=All", body); err != nil || a.Code != http.StatusCreated {
				t.Errorf("%v %d %.300s", err, a.Code, a.Body)
			}
		})
	}
	posting.Wait()
	close(stop)
	watching.Wait()
	if held < limit/4 || held > limit {
		t.Errorf("%d MiB were charged at a time", held>>20)
	}
	if held := metric(t, s, "kubecascade_inflight_memory_held_bytes"); held != 0 {
		t.Errorf("%v bytes are held by no one", held)
	}
}

// TestConvertedMemory: a list of custom resources counts if they are converted for it.
func TestConvertedMemory(t *testing.T) {
	const mib = 1 << 20
	store := storagetest.Open(t)
	big := apiservertest.Start(t, &apiservertest.Options{Store: store})
	defineVersions(t, big)
	for i := range 8 {
		must(
			t, big.Do("POST", newer, thing(newer, fmt.Sprint("n", i), `{"b":"`+strings.Repeat("x", mib/2)+`"}`)),
			http.StatusCreated,
		)
	}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.MemoryInFlight = 16 * mib
	}})
	for path, code := range map[string]int{
		newer: http.StatusOK, older: http.StatusRequestEntityTooLarge, older + "?limit=1": http.StatusOK,
	} {
		if a := s.Do("GET", path, nil); a.Code != code {
			t.Errorf("%s: %d %.300s", path, a.Code, a.Body)
		}
	}
}

// TestMemoryWait: a request that needs much memory waits for one that is being processed, without a seat, and receives
// 429 after the time limit.
func TestMemoryWait(t *testing.T) {
	const mib = 1 << 20
	store := &held{storagetest.Open(t), "/held", make(chan struct{}), make(chan struct{})}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.MemoryInFlight, c.MaxInFlight, c.RequestTimeout = 48*mib, 2, 2*time.Second
	}})
	created := make(chan apiservertest.Answer)
	// 20 MiB
	large := func(name string) any { return configmap(name, map[string]string{"k": strings.Repeat("x", mib)}, nil) }
	go func() { created <- s.Do("POST", configmaps, large("held")) }()
	<-store.entered
	waits := make(chan apiservertest.Answer, 1)
	go func() { waits <- s.Do("POST", configmaps, large("other")) }()
	const late = "kubecascade_inflight_memory_rejected_total{"
	for metric(t, s, "kubecascade_inflight_memory_waiting_requests") == 0 && metric(t, s, late, `reason="time-out"`) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("no request waits")
		}
	}
	must(t, s.Do("POST", configmaps, `{"metadata":{"name":"small"}}`), http.StatusCreated) // in the other seat
	a := must(t, <-waits, http.StatusTooManyRequests)
	if st := a.Status(); a.Header.Get("Retry-After") != "1" || st.Details.RetryAfterSeconds != 1 ||
		!strings.Contains(st.Message, "memory") {
		t.Errorf("%v %s", a.Header, a.Body)
	}
	if n := metric(t, s, late, `reason="time-out"`); n != 1 {
		t.Errorf("%v timed out", n)
	}
	close(store.done)
	if a := <-created; a.Code != http.StatusCreated && a.Code != http.StatusGatewayTimeout {
		t.Errorf("%d %.300s", a.Code, a.Body)
	}
	must(t, s.Do("POST", configmaps, large("again")), http.StatusCreated)
}

// TestListWaits: a list that waits for memory gives its seat back, and continues when there is memory.
func TestListWaits(t *testing.T) {
	const mib = 1 << 20
	store := &held{storagetest.Open(t), "/held", make(chan struct{}), make(chan struct{})}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.MemoryInFlight, c.MaxInFlight, c.RequestTimeout = 48*mib, 2, 4*time.Minute
	}})
	// 20 MiB
	large := func(name string) any { return configmap(name, map[string]string{"k": strings.Repeat("x", mib)}, nil) }
	for i := range 4 {
		must(t, s.Do("POST", configmaps, large(fmt.Sprint("n", i))), http.StatusCreated)
	}
	created, listed := make(chan apiservertest.Answer), make(chan apiservertest.Answer)
	go func() { created <- s.Do("POST", configmaps, large("held")) }()
	<-store.entered
	go func() { listed <- s.Do("GET", configmaps, nil, "Accept", mediaProtobuf) }() // 20 MiB
	for metric(t, s, "kubecascade_inflight_memory_waiting_requests") == 0 {
		if t.Context().Err() != nil {
			t.Fatal("no request waits")
		}
	}
	must(t, s.Do("GET", configmaps+"?limit=1", nil), http.StatusOK) // in the other seat
	close(store.done)
	must(t, <-created, http.StatusCreated)
	if a := must(t, <-listed, http.StatusOK); len(a.Body) < 4*mib {
		t.Errorf("%d bytes", len(a.Body))
	}
}

// TestAnswerMemory: a response that is encoded for the request counts, and one that is sent from the cache doesn't.
func TestAnswerMemory(t *testing.T) {
	const mib = 1 << 20
	store := storagetest.Open(t)
	big := apiservertest.Start(t, &apiservertest.Options{Store: store})
	for i := range 8 {
		must(
			t,
			big.Do("POST", configmaps, configmap(fmt.Sprint("n", i), map[string]string{"k": strings.Repeat("x", mib/2)}, nil)),
			http.StatusCreated,
		)
	}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.MemoryInFlight = 16 * mib
	}})
	for _, c := range []struct {
		accept, query string
		code          int
	}{
		{"application/json", "", http.StatusOK},
		{asMetadatas, "", http.StatusOK},
		{asTable, "", http.StatusOK},
		{asTable, "?includeObject=Object", http.StatusOK},
		{asTable, "?includeObject=Object&pretty=1", http.StatusRequestEntityTooLarge},
		{mediaProtobuf, "", http.StatusRequestEntityTooLarge},
		{mediaProtobuf, "?limit=2", http.StatusOK},
		{"application/yaml", "", http.StatusRequestEntityTooLarge},
		{"application/json", "?pretty=1", http.StatusRequestEntityTooLarge},
	} {
		if a := s.Do("GET", configmaps+c.query, nil, "Accept", c.accept); a.Code != c.code {
			t.Errorf("%s %s: %d %.300s", c.accept, c.query, a.Code, a.Body)
		}
	}
	if held := metric(t, s, "kubecascade_inflight_memory_held_bytes"); held != 0 {
		t.Errorf("%v bytes are held by no one", held)
	}
}

const opens = "/apis/open.test/v1/namespaces/default/opens"

// defineOpen creates a CRD that preserves unknown fields.
func defineOpen(t *testing.T, s *apiservertest.Server) {
	t.Helper()
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	must(t, s.Do("POST", crds, `{"metadata":{"name":"opens.open.test"},"spec":{"group":"open.test","scope":"Namespaced",
		"names":{"plural":"opens","singular":"open","kind":"Open","listKind":"OpenList"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`), http.StatusCreated)
	must(t, s.Do("PATCH", crds+
		"/opens.open.test/status", `{"status":{"acceptedNames":{"plural":"opens","kind":"Open"},"storedVersions":["v1"],
		"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`, "Content-Type",
		mergePatch), http.StatusOK)
	for s.Types.Lookup("open.test", "v1", "opens") == nil {
		<-s.Types.Changed()
	}
}

// TestDeletedWithoutMemory: the response to a DELETE of a collection is a Status of Success if there is no memory for
// the list.
func TestDeletedWithoutMemory(t *testing.T) {
	const mib = 1 << 20
	store := storagetest.Open(t)
	big := apiservertest.Start(t, &apiservertest.Options{Store: store})
	for i := range 8 {
		must(
			t,
			big.Do("POST", configmaps, configmap(fmt.Sprint("n", i), map[string]string{"k": strings.Repeat("x", mib/2)}, nil)),
			http.StatusCreated,
		)
	}
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
		c.MemoryInFlight = 16 * mib
	}})
	must(t, s.Do("GET", configmaps, nil, "Accept", mediaProtobuf), http.StatusRequestEntityTooLarge)
	a := must(t, s.Do("DELETE", configmaps, nil, "Accept", mediaProtobuf+", application/json"), http.StatusOK)
	if !bytes.Contains(a.Body, []byte("Success")) {
		t.Errorf("%.300q", a.Body)
	}
	if items := must(t, s.Do("GET", configmaps, nil), http.StatusOK).List().Items; len(items) != 0 {
		t.Errorf("%d are left", len(items))
	}
}

// TestAdmissionMemory: what webhooks get of a request counts, for writes that they may be asked about.
func TestAdmissionMemory(t *testing.T) {
	const mib = 1 << 20
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.MemoryInFlight = 32 * mib
	}})
	body := `{"metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("x", mib/2) + `"}}`
	must(t, s.Do("POST", configmaps, body), http.StatusCreated)
	webhook := `{"name":"h%d.example.com","clientConfig":{"url":"https://127.0.0.1:1/"},"failurePolicy":"Ignore",` +
		`"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","DELETE"],"resources":["configmaps"]}],` +
		`"sideEffects":"None","admissionReviewVersions":["v1"]}`
	var webhooks []string
	for i := range 40 {
		webhooks = append(webhooks, fmt.Sprintf(webhook, i))
	}
	must(t, s.Do("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
		`{"metadata":{"name":"w"},"webhooks":[`+strings.Join(webhooks, ",")+`]}`), http.StatusCreated)
	for _, c := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", configmaps, body, http.StatusRequestEntityTooLarge},
		{"POST", configmaps, `{"metadata":{"name":"small"}}`, http.StatusCreated},
		{"POST", "/api/v1/namespaces/default/secrets", body, http.StatusCreated},
		{"PUT", configmaps + "/a", body, http.StatusRequestEntityTooLarge}, // it may turn out to be a create
		{"DELETE", configmaps + "/a", "", http.StatusRequestEntityTooLarge},
	} {
		var sent any
		if c.body != "" {
			sent = c.body
		}
		if a := s.Do(c.method, c.path, sent); a.Code != c.code {
			t.Errorf("%s %s: %d %.200s", c.method, c.path, a.Code, a.Body)
		}
	}
}
