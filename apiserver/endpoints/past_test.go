package endpoints_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// reading counts the lists that a store serves.
type reading struct {
	storage.Store
	mu sync.Mutex
	// lists is the number of lists, records that of the returned records, and unbounded that of lists without a limit.
	lists, records, unbounded int
	// before is called before each list with the list's number. It may be nil.
	before func(n int)
}

func (c *reading) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	c.mu.Lock()
	c.lists++
	if r.Limit == 0 {
		c.unbounded++
	}
	n, before := c.lists, c.before
	c.mu.Unlock()
	if before != nil {
		before(n)
	}
	p, err := c.Store.List(ctx, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.records += len(p.Records)
	return p, err
}

// since returns the number of records that f read, and the number of lists without a limit.
func (c *reading) since(f func()) (records, unbounded int) {
	c.mu.Lock()
	records, unbounded = c.records, c.unbounded
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.records - records, c.unbounded - unbounded
}

const crontabs = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"crontabs.example.com","uid":"d","creationTimestamp":"2024-05-01T10:00:00Z"},
	"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"crontabs","singular":"crontab","kind":"CronTab","listKind":"CronTabList"},"conversion":{"strategy":"None"},"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"i":{"type":"integer"}}}}}},"selectableFields":[{"jsonPath":".spec.i"}]},
		{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"i":{"type":"integer"}}}}}}}]},
	"status":{"acceptedNames":{"plural":"crontabs","singular":"crontab","kind":"CronTab","listKind":"CronTabList"},"storedVersions":["v1"],
		"conditions":[{"type":"NamesAccepted","status":"True","lastTransitionTime":"2024-05-01T10:00:00Z","reason":"","message":""},{"type":"Established","status":"True","lastTransitionTime":"2024-05-01T10:00:00Z","reason":"","message":""}]}}`

// before starts a server whose history is one event, over a store with n config maps and n custom resources in the
// namespace default and one of each in another, and returns the revision.
func before(t *testing.T, n int) (*apiservertest.Server, *reading, string) {
	t.Helper()
	store := &reading{Store: storagetest.Open(t)}
	put := func(key, value string) int64 {
		rev, err := store.Commit(t.Context(), storage.Txn{Key: key, Value: []byte(value)})
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
	put("/registry/apiextensions.k8s.io/customresourcedefinitions/crontabs.example.com", crontabs)
	var last int64
	one := func(namespace string, i int) {
		meta := fmt.Sprintf(
			`"metadata":{"name":"m%03d","namespace":%q,"uid":"%s-%d","creationTimestamp":"2024-05-01T10:00:00Z","labels":{"n":"%d"}}`,
			i, namespace, namespace, i, i%10)
		put(fmt.Sprintf("/registry/configmaps/%s/m%03d", namespace, i),
			`{"kind":"ConfigMap","apiVersion":"v1",`+meta+`,"data":{"k":"`+strings.Repeat("v", 1000)+`"}}`)
		last = put(fmt.Sprintf("/registry/example.com/crontabs/%s/m%03d", namespace, i),
			fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"CronTab",%s,"spec":{"i":%d}}`, meta, i%10))
	}
	for i := range n {
		one("default", i)
	}
	one("other", 0)
	s := apiservertest.Start(t, &apiservertest.Options{Store: store, Cache: cache.Options{Events: 1, TimelineEvents: 1},
		Configure: func(c *apiserver.Config) {
			c.Now = func() time.Time { return time.Date(2024, 5, 1, 11, 0, 0, 0, time.UTC) }
		}})
	return s, store, strconv.FormatInt(last, 10)
}

// later writes until the revision is no longer in the cache's history.
func later(t *testing.T, s *apiservertest.Server) {
	t.Helper()
	for i := range 4 {
		must(t, s.Do("PATCH", configmaps+"/m000", fmt.Sprintf(`{"data":{"k":"%d"}}`, i)), http.StatusOK)
		must(t, s.Do(
			"PATCH", "/apis/example.com/v1/namespaces/default/crontabs/m000", fmt.Sprintf(`{"spec":{"i":%d}}`, 90+i),
		), http.StatusOK)
	}
	must(t, s.Do("DELETE", configmaps+"/m007", nil), http.StatusOK)
	must(t, s.Do("DELETE", "/apis/example.com/v1/namespaces/default/crontabs/m007", nil), http.StatusOK)
}

// TestPastListsEqualEarlierOnes: a list at a revision that only etcd still has equals the earlier list from the cache,
// in each media type.
func TestPastListsEqualEarlierOnes(t *testing.T) {
	s, store, rev := before(t, 30)
	const custom = "/apis/example.com/v1/namespaces/default/crontabs"
	type question struct{ path, accept string }
	answers := map[question]string{}
	var questions []question
	for _, path := range []string{
		configmaps, "/api/v1/configmaps", custom, "/apis/example.com/v1/crontabs", "/apis/example.com/v1beta1/crontabs",
	} {
		for _, query := range []string{"", "&labelSelector=n%3D3", "&fieldSelector=metadata.name%3Dm007",
			"&fieldSelector=metadata.name%3Dm007,metadata.namespace%3Ddefault",
			"&fieldSelector=metadata.name%3Dnone,metadata.namespace%3Ddefault", "&fieldSelector=metadata.namespace%3Dother",
			"&limit=7", "&limit=2&labelSelector=n%3D3",
			"&limit=1&fieldSelector=metadata.name%3Dm007,metadata.namespace%3Ddefault"} {
			for _, accept := range []string{"application/json", "application/yaml", asTable, asMetadatas} {
				questions = append(questions, question{path + "?resourceVersionMatch=Exact&resourceVersion=" + rev + query, accept})
			}
		}
	}
	questions = append(questions, question{
		custom + "?resourceVersionMatch=Exact&resourceVersion=" + rev + "&limit=2&fieldSelector=spec.i%3D3",
		"application/json",
	},
		question{configmaps + "?resourceVersionMatch=Exact&resourceVersion=" + rev, mediaProtobuf})
	for _, q := range questions {
		answers[q] = string(must(t, s.Do("GET", q.path, nil, "Accept", q.accept), http.StatusOK).Body)
	}
	later(t, s)
	for _, q := range questions {
		a := s.Do("GET", q.path, nil, "Accept", q.accept)
		if diff := cmp.Diff(answers[q], string(a.Body)); diff != "" {
			t.Errorf("%s as %s (-then +now):\n%s", q.path, q.accept, diff)
		}
	}
	if store.lists == 0 {
		t.Error("the store wasn't read")
	}
}

// paged lists all pages and returns the names; it checks each page's remainingItemCount.
func paged(s *apiservertest.Server, path, query string, limit int, counted bool) (names []string, err error) {
	next := ""
	var counts []int64
	for {
		at := "&continue=" + next
		if next == "" {
			at = query
		}
		a, err := s.Try("GET", fmt.Sprintf("%s?limit=%d%s", path, limit, at), nil)
		if err != nil || a.Code != http.StatusOK {
			return nil, fmt.Errorf("%v %s", err, a.Body)
		}
		l := a.List()
		for _, item := range l.Items {
			names = append(names, item.GetName())
		}
		if n := l.GetRemainingItemCount(); n != nil {
			counts = append(counts, int64(len(names))+*n)
		}
		if next = l.GetContinue(); next == "" {
			break
		}
	}
	if want := (len(names) - 1) / limit; counted && len(counts) != want {
		return nil, fmt.Errorf("%d pages have a remainingItemCount, want %d", len(counts), want)
	}
	for _, n := range counts {
		if n != int64(len(names)) {
			return nil, fmt.Errorf("%d objects in all, want %d", n, len(names))
		}
	}
	return names, nil
}

// TestPastPagesHaveAllObjects: pages at a revision that only etcd still has have all objects of that revision. No page
// is read without a limit.
func TestPastPagesHaveAllObjects(t *testing.T) {
	const n = 200
	s, store, rev := before(t, n)
	later(t, s)
	for _, path := range []string{
		configmaps, "/apis/example.com/v1/namespaces/default/crontabs",
		"/apis/example.com/v1beta1/namespaces/default/crontabs",
	} {
		records, unbounded := store.since(func() {
			names, err := paged(s, path, "&resourceVersionMatch=Exact&resourceVersion="+rev, 30, true)
			if err != nil || len(names) != n || names[7] != "m007" {
				t.Errorf("%s: %d objects: %v", path, len(names), err)
			}
		})
		if records > n || unbounded > 0 {
			t.Errorf("%s: %d records were read for %d objects, %d times without a limit", path, records, n, unbounded)
		}
	}
}

// TestPastListOfOneObject: a list of one object at a revision that only etcd still has reads only this object.
func TestPastListOfOneObject(t *testing.T) {
	s, store, rev := before(t, 100)
	later(t, s)
	for _, path := range []string{configmaps, "/apis/example.com/v1/namespaces/default/crontabs"} {
		records, _ := store.since(func() {
			l := must(t, s.Do(
				"GET", path+"?fieldSelector=metadata.name%3Dm007&resourceVersionMatch=Exact&resourceVersion="+rev, nil,
			), http.StatusOK).List()
			if got := strings.Join(names(l), " "); got != "m007" || l.GetResourceVersion() != rev {
				t.Errorf("%s at %s", got, l.GetResourceVersion())
			}
		})
		if records != 1 {
			t.Errorf("%s: %d records were read", path, records)
		}
	}
}

// TestPastSelection: a page with few selected objects is read in steps of limited size, and no further than necessary.
func TestPastSelection(t *testing.T) {
	s, store, rev := before(t, 100)
	later(t, s)
	records, unbounded := store.since(func() {
		l := must(t, s.Do(
			"GET", configmaps+"?limit=1&labelSelector=n%3D3&resourceVersionMatch=Exact&resourceVersion="+rev, nil,
		), http.StatusOK).List()
		if got := strings.Join(names(l), " "); got != "m003" || l.GetContinue() == "" || l.GetRemainingItemCount() != nil {
			t.Errorf("%s, token %q", got, l.GetContinue())
		}
	})
	if records > 101 || unbounded > 0 { // one of them to count the others
		t.Errorf("%d records were read, %d times without a limit", records, unbounded)
	}
	got, err := paged(s, configmaps, "&labelSelector=n%3D3&resourceVersionMatch=Exact&resourceVersion="+rev, 3, false)
	if want := "m003 m013 m023"; err != nil || strings.Join(got[:3], " ") != want {
		t.Errorf("%v: %v", got, err)
	}
}

// TestPastCompacted: after a compaction between the reads of one page, or between pages, the list ends with a token
// that continues with the newest state (H-16), even though its objects are in memory.
func TestPastCompacted(t *testing.T) {
	s, store, rev := before(t, 100)
	later(t, s)
	compact := func() {
		latest, err := store.Revision(t.Context())
		if err == nil {
			err = store.Compact(t.Context(), latest)
		}
		if err != nil {
			t.Error(err)
		}
	}
	first := must(t, s.Do(
		"GET", configmaps+"?limit=10&resourceVersionMatch=Exact&resourceVersion="+rev, nil), http.StatusOK).List()
	second := must(t, s.Do("GET", configmaps+"?limit=10&continue="+first.GetContinue(), nil), http.StatusOK).List()
	lists := store.lists
	store.before = func(n int) { // a page of three needs a second read if one object in ten is selected
		if n == lists+2 {
			compact()
		}
	}
	path := "/apis/example.com/v1/namespaces/default/crontabs"
	a := s.Do("GET", path+"?limit=3&labelSelector=n%3D3&resourceVersionMatch=Exact&resourceVersion="+rev, nil)
	if st := a.Status(); a.Code != http.StatusGone || st.Continue != "" ||
		st.Message != "The resourceVersion for the provided list is too old." {
		t.Errorf("within the first page: %d %s", a.Code, a.Body)
	}
	for _, token := range []string{first.GetContinue(), second.GetContinue()} {
		a = s.Do("GET", configmaps+"?limit=10&continue="+token, nil)
		st := a.Status()
		if a.Code != http.StatusGone || st.Continue == "" ||
			!strings.HasPrefix(st.Message, "The provided continue parameter is too old") {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	rest := must(t, s.Do("GET", configmaps+"?limit=2&continue="+a.Status().Continue, nil), http.StatusOK).List()
	if got := strings.Join(names(rest), " "); got != "m020 m021" {
		t.Errorf("the new token continues with %s", got)
	}
}
