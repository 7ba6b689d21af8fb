package endpoints_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage/cache"
)

const configmaps = "/api/v1/namespaces/default/configmaps"

// configmap returns the body of a ConfigMap.
func configmap(name string, data map[string]string, labels map[string]string) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name, "labels": labels}, "data": data}
}

// must fails the test unless the response has the code.
func must(t *testing.T, a apiservertest.Answer, code int) apiservertest.Answer {
	t.Helper()
	if a.Code != code {
		t.Fatalf("status %d, want %d: %s", a.Code, code, a.Body)
	}
	return a
}

// fill creates n config maps m00, m01, ... and returns the revisions after each.
func fill(t *testing.T, s *apiservertest.Server, n int) (revisions []string) {
	t.Helper()
	for i := range n {
		a := must(
			t, s.Do("POST", configmaps, configmap(fmt.Sprintf("m%02d", i), nil, map[string]string{"n": strconv.Itoa(i)})),
			http.StatusCreated)
		revisions = append(revisions, a.Object().GetResourceVersion())
	}
	return revisions
}

func names(l *unstructured.UnstructuredList) (out []string) {
	for _, item := range l.Items {
		out = append(out, item.GetName())
	}
	return out
}

// TestFutureRevisions: lists and GETs of a future revision wait, and then fail (H-11).
func TestFutureRevisions(t *testing.T) {
	t.Parallel()
	s := apiservertest.Start(t, nil)
	fill(t, s, 1)
	for _, path := range []string{configmaps + "?resourceVersion=1000000", configmaps + "/m00?resourceVersion=1000000"} {
		a := must(t, s.Do("GET", path, nil), http.StatusGatewayTimeout)
		st := a.Status()
		if !strings.HasPrefix(st.Message, "Timeout: Too large resource version: 1000000, current: ") ||
			st.Reason != metav1.StatusReasonTimeout ||
			a.Header.Get("Retry-After") != "1" || len(st.Details.Causes) != 1 ||
			st.Details.Causes[0].Type != metav1.CauseTypeResourceVersionTooLarge {
			t.Errorf("%s: %s", path, a.Body)
		}
	}
	// A list waits for a revision that is written soon.
	next := must(t, s.Do("POST", configmaps, configmap("n", nil, nil)), http.StatusCreated).Object().GetResourceVersion()
	n, _ := strconv.Atoi(next)
	var wg sync.WaitGroup
	wg.Go(func() {
		if a, err := s.Try("GET", fmt.Sprintf("%s?resourceVersion=%d", configmaps, n+1), nil); err != nil ||
			a.Code != http.StatusOK || len(a.List().Items) != 3 {
			t.Errorf("a list at the next revision: %d %v %s", a.Code, err, a.Body)
		}
	})
	must(t, s.Do("POST", configmaps, configmap("o", nil, nil)), http.StatusCreated)
	wg.Wait()
}

// TestPagesAreOneState reads lists in pages while other clients write, and compares each with the list at the revision
// of its first page.
func TestPagesAreOneState(t *testing.T) {
	seed := seed.Of(t)
	s := apiservertest.Start(t, nil)
	fill(t, s, 40)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 4 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		writers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					churn(s, r)
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 100))
	for range 20 {
		limit := 1 + r.IntN(20)
		var pages []unstructured.Unstructured
		first, token := "", ""
		for {
			l := must(t, s.Do(
				"GET", fmt.Sprintf("%s?limit=%d&continue=%s", configmaps, limit, token), nil), http.StatusOK).List()
			if first == "" {
				first = l.GetResourceVersion()
			}
			pages = append(pages, l.Items...)
			if token = l.GetContinue(); token == "" {
				break
			}
			if len(l.Items) != limit {
				t.Fatalf("a page of %d, limit %d", len(l.Items), limit)
			}
		}
		whole := must(t, s.Do(
			"GET", configmaps+"?resourceVersionMatch=Exact&resourceVersion="+first, nil), http.StatusOK).List()
		if diff := cmp.Diff(whole.Items, pages); diff != "" {
			t.Fatalf("pages of %d at %s (-whole +pages):\n%s", limit, first, diff)
		}
	}
	close(stop)
	writers.Wait()
}

// churn creates, changes or deletes one of 60 ConfigMaps, and ignores errors.
func churn(s *apiservertest.Server, r *rand.Rand) {
	name := fmt.Sprintf("m%02d", r.IntN(60))
	switch r.IntN(4) {
	case 0:
		_, _ = s.Try("DELETE", configmaps+"/"+name, nil)
	case 1:
		_, _ = s.Try("POST", configmaps, configmap(name, nil, map[string]string{"n": strconv.Itoa(r.IntN(3))}))
	default:
		patch := fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}},"data":{"k":"%d"}}`, r.IntN(3), r.IntN(1000))
		_, _ = s.Try("PATCH", configmaps+"/"+name, patch)
	}
}

// TestExpiredToken: a token expires when its revision is compacted (H-12, H-15, H-16). The history is dropped from etcd
// and from the cache, whose limit is one event.
func TestExpiredToken(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Cache: cache.Options{Events: 1, TimelineEvents: 1}})
	rev := fill(t, s, 6)
	page := must(t, s.Do("GET", configmaps+"?limit=2", nil), http.StatusOK).List()
	must(t, s.Do("DELETE", configmaps+"/m03", nil), http.StatusOK)
	for range 200 { // the newest segments are never dropped
		must(t, s.Do("PATCH", configmaps+"/m04", `{"data":{"k":"`+strconv.Itoa(rand.Int())+`"}}`), http.StatusOK)
	}
	// Out of the cache's history, but not out of etcd's.
	if got := names(must(t, s.Do("GET", configmaps+"?limit=9&continue="+page.GetContinue(), nil), http.StatusOK).
		List()); strings.Join(got, " ") != "m02 m03 m04 m05" {
		t.Errorf("continued with %v", got)
	}
	latest, err := s.Store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Store.Compact(t.Context(), latest); err != nil {
		t.Fatal(err)
	}
	a := must(t, s.Do("GET", configmaps+"?continue="+page.GetContinue(), nil), http.StatusGone)
	st := a.Status()
	if st.Reason != metav1.StatusReasonExpired ||
		!strings.HasPrefix(st.Message, "The provided continue parameter is too old") || st.Continue == "" {
		t.Fatalf("expired: %s", a.Body)
	}
	rest := must(t, s.Do("GET", configmaps+"?continue="+st.Continue, nil), http.StatusOK).List()
	if got := strings.Join(names(rest), " "); got != "m02 m04 m05" {
		t.Errorf("the new token continues with %s", got)
	}
	a = must(t, s.Do("GET", configmaps+"?resourceVersionMatch=Exact&resourceVersion="+rev[0], nil), http.StatusGone)
	if st := a.Status(); st.Reason != metav1.StatusReasonExpired ||
		st.Message != "The resourceVersion for the provided list is too old." {
		t.Errorf("exact: %s", a.Body)
	}
	e, err := s.Watch(configmaps + "?watch=1&resourceVersion=" + rev[0]).Next()
	if err != nil || e.Type != "ERROR" {
		t.Fatalf("watch: %v %v", e, err)
	}
	data, _ := json.Marshal(e.Object)
	if err := json.Unmarshal(data, &st); err != nil || st.Code != http.StatusGone ||
		st.Reason != metav1.StatusReasonExpired ||
		!strings.HasPrefix(st.Message, "too old resource version: "+rev[0]+" (") { // H-30
		t.Errorf("watch: %s", data)
	}
}
