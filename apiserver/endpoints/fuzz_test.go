package endpoints_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// target is a server whose handler is called directly, so that it also gets bytes that no HTTP client would send.
type target struct {
	s *apiservertest.Server
	h http.Handler
}

func fuzzed(f *testing.F) *target {
	s := apiservertest.Start(f, nil)
	for _, name := range []string{"a", "b", "c"} {
		if a := s.Do("POST", configmaps, configmap(name, map[string]string{
			"k": "v",
		}, map[string]string{"l": name})); a.Code != http.StatusCreated {
			f.Fatalf("%s", a.Body)
		}
	}
	return &target{s: s, h: s.API.Insecure()}
}

// send sends a request with any path and query to the handler.
func (x *target) send(method, path, query, media, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost/", strings.NewReader(body))
	r.URL = &url.URL{Scheme: "http", Host: "localhost", Path: path, RawQuery: query}
	if p, err := url.PathUnescape(path); err == nil {
		r.URL.Path, r.URL.RawPath = p, path
	}
	r.Header.Set("Content-Type", media)
	w := httptest.NewRecorder()
	x.h.ServeHTTP(w, r)
	return w
}

// check fails the test for an invalid response, or a 5xx whose message isn't in allowed.
func check(t *testing.T, w *httptest.ResponseRecorder, allowed ...string) {
	t.Helper()
	if w.Code < 200 || w.Code == 0 {
		t.Fatalf("status %d", w.Code)
	}
	if w.Code < 500 {
		return
	}
	var st metav1.Status
	if err := json.Unmarshal(w.Body.Bytes(), &st); err != nil || st.Kind != "Status" {
		t.Fatalf("%d without a Status: %s", w.Code, w.Body)
	}
	for _, text := range allowed {
		if strings.Contains(st.Message, text) {
			return
		}
	}
	t.Fatalf("status %d: %s", w.Code, w.Body)
}

// checkStrategic is check for strategic merges. An error of the library that is not in the error table is a 500 with
// the library's message and no reason (B-54). A panic has a reason.
func checkStrategic(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code == http.StatusInternalServerError {
		var st metav1.Status
		if err := json.Unmarshal(w.Body.Bytes(), &st); err == nil && st.Reason == "" && st.Message != "" {
			return
		}
	}
	check(t, w, badRevision)
}

// Messages of the 5xx responses that upstream has, too.
const (
	badRevision = "strconv.ParseUint: parsing" // B-07, H-20, H-29
	future      = "Too large resource version" // H-11
	noKubelet   = "not implemented"
	versioned   = "resourceVersion should not be set on objects to be created"
	untyped     = "failed to create typed patch object"
)

// FuzzPath sends a GET of any path.
func FuzzPath(f *testing.F) {
	x := fuzzed(f)
	for _, path := range []string{"/", "/api", "/apis//", configmaps, configmaps + "/a", "/api/v1/namespaces/default",
		"/apis/apps/v1/deployments", "/api/v1/watch/configmaps/",
		"/api/v1/namespaces/%2e%2e/pods/a%2fb/log", "/openapi/v3/apis/apps/v1", "/healthz/etcd", "/debug", "/version", "/%00",
		"//", "/apis/%zz"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !strings.HasPrefix(path, "/") || strings.Contains(path, "/watch") {
			t.Skip() // net/http accepts no other paths; watches don't end by themselves
		}
		w := x.send(http.MethodGet, path, "", "", "")
		check(t, w, noKubelet, badRevision)
	})
}

// FuzzSelectors: pages of one object each have the same objects as the whole list.
func FuzzSelectors(f *testing.F) {
	x := fuzzed(f)
	for _, s := range [][2]string{
		{"l=a", ""}, {"l in (a,b),!x", "metadata.name=a"}, {"", "metadata.name!=a,metadata.namespace=default"},
		{"l>1", `metadata.name=\,`}, {"((", "=="}, {"l notin (a", "a"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, labels, fields string) {
		q := url.Values{"labelSelector": {labels}, "fieldSelector": {fields}}
		w := x.send(http.MethodGet, configmaps, q.Encode(), "", "")
		check(t, w)
		if w.Code != http.StatusOK {
			return
		}
		var whole unstructured.UnstructuredList
		listed := apiservertest.Answer{Body: w.Body.Bytes()}.List()
		q.Set("limit", "1")
		for {
			page := x.send(http.MethodGet, configmaps, q.Encode(), "", "")
			if page.Code != http.StatusOK {
				t.Fatalf("a page: %d %s", page.Code, page.Body)
			}
			l := apiservertest.Answer{Body: page.Body.Bytes()}.List()
			whole.Items = append(whole.Items, l.Items...)
			if l.GetContinue() == "" {
				break
			}
			q.Set("continue", l.GetContinue())
		}
		if got, want := strings.Join(names(&whole), " "), strings.Join(names(listed), " "); got != want {
			t.Fatalf("pages %q, list %q", got, want)
		}
	})
}

// FuzzDeleteOptions: a request with any options in body and query changes nothing if it fails.
func FuzzDeleteOptions(f *testing.F) {
	x := fuzzed(f)
	for _, s := range [][3]string{{"application/json", `{"propagationPolicy":"Orphan"}`, ""},
		{"application/yaml", "gracePeriodSeconds: 5", ""}, {"", "", "orphanDependents=0&gracePeriodSeconds=-1"},
		{mediaProtobuf, "k8s\x00\n\x00\x12\x00", ""}, {
			"application/json", `{"preconditions":{"uid":"x","resourceVersion":"1"}}`, "uid=x",
		}, {"application/json", `null`, ""},
		{
			"application/json", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground","dryRun":["All"]}`,
			"",
		}, {"", "", "propagationPolicy=Foreground"}} {
		f.Add(s[0], s[1], s[2])
	}
	const victim = configmaps + "/victim"
	f.Fuzz(func(t *testing.T, media, body, query string) {
		if w := x.send(http.MethodDelete, configmaps+"/none", query, media, body); w.Code == http.StatusOK {
			t.Fatalf("deleted nothing: %s", w.Body)
		}
		x.send(http.MethodPost, configmaps, "", "application/json", `{"metadata":{"name":"victim"}}`)
		before := x.send(http.MethodGet, victim, "", "", "").Body.String()
		w := x.send(http.MethodDelete, victim, query, media, body)
		check(t, w)
		after := x.send(http.MethodGet, victim, "", "", "")
		if w.Code >= 400 && after.Body.String() != before {
			t.Fatalf("status %d, but %s became %s", w.Code, before, after.Body)
		}
		if after.Code == http.StatusOK { // remove the finalizers that a collector would remove
			x.send(http.MethodPatch, victim, "", mergePatch, `{"metadata":{"finalizers":null}}`)
		}
		if values, _ := url.ParseQuery(query + "&dryRun=All"); body == "" && len(values["dryRun"]) == 1 {
			check(t, x.send(http.MethodDelete, configmaps, query+"&dryRun=All", media, ""), badRevision, future)
			if w := x.send(http.MethodGet, configmaps+"/a", "", "", ""); w.Code != http.StatusOK {
				t.Fatalf("a dry run deleted: %s", query)
			}
		}
	})
}

// FuzzPatch applies three types of patches to a stored object. The stored result is a config map with the same name and
// uid that can be decoded.
func FuzzPatch(f *testing.F) {
	x := fuzzed(f)
	media := []string{
		"application/json-patch+json", mergePatch, "application/strategic-merge-patch+json", "application/apply-patch+yaml",
	}
	for _, s := range []string{`[{"op":"add","path":"/data/x","value":"y"}]`,
		`[{"op":"move","from":"/data","path":"/metadata/labels"}]`, `[null]`, `[{"op":"copy","from":"","path":"/data/k"}]`,
		`[{"op":"remove","path":"/metadata"}]`, `[{"op":"test","path":"/data","value":null}]`, `{"data":{"x":null}}`,
		`{"metadata":null}`, `{"metadata":{"finalizers":["a.io/b"],"labels":{"a":"b"}}}`,
		`{"metadata":{"$patch":"replace"}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a.io/b"]}}`,
		`{"metadata":{"$setElementOrder/finalizers":["x"],"ownerReferences":[{"uid":"x","$patch":"delete"}]}}`,
		`{"$retainKeys":["data"]}`, `{"$patch":""}`,
		`{"metadata":{"finalizers":["a.io/b"],"$setElementOrder/finalizers":[{}]}}`, `{"metadata":{"managedFields":[{}]}}`,
		`{"metadata":{"resourceVersion":"0","generation":-5}}`, `{"apiVersion":"v1","kind":"ConfigMap","data":{"k":"w"}}`} {
		for i := range media {
			f.Add(i, s)
		}
	}
	uid := x.s.Do("GET", configmaps+"/a", nil).Object().GetUID()
	f.Fuzz(func(t *testing.T, kind int, body string) {
		m := media[uint(kind)%uint(len(media))]
		query := ""
		if strings.Contains(m, "apply") {
			query = "fieldManager=f"
		}
		w := x.send(http.MethodPatch, configmaps+"/a", query, m, body)
		if strings.Contains(m, "strategic") {
			checkStrategic(t, w)
		} else {
			check(t, w, badRevision, untyped)
		}
		got := apiservertest.Answer{Body: x.send(http.MethodGet, configmaps+"/a", "", "", "").Body.Bytes()}.Object()
		if got.GetUID() != uid || got.GetKind() != "ConfigMap" || got.GetName() != "a" || got.GetNamespace() != "default" ||
			got.GetDeletionTimestamp() != nil {
			t.Fatalf("after %d %s: %v", w.Code, w.Body, got)
		}
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+configmaps+"/a", nil)
		r.Header.Set("Accept", asTable) // is rendered from the decoded object
		table := httptest.NewRecorder()
		if x.h.ServeHTTP(table, r); table.Code != http.StatusOK {
			t.Fatalf("what is stored doesn't decode: %s", table.Body)
		}
	})
}

// FuzzObject: after a POST of any object in any encoding, a stored object can be read and removed.
func FuzzObject(f *testing.F) {
	x := fuzzed(f)
	kinds := []struct{ collection, sample string }{
		{configmaps, `{"metadata":{"name":"x"},"data":{"k":"v"},"binaryData":{"b":"AA=="}}`},
		{
			"/api/v1/namespaces/default/events",
			`{"metadata":{"name":"x"},"involvedObject":{"namespace":"default"},"firstTimestamp":"2020-01-01T00:00:00Z"}`,
		},
		{
			"/apis/coordination.k8s.io/v1/namespaces/default/leases",
			`{"metadata":{"name":"x"},"spec":{"acquireTime":"2020-01-01T00:00:00.000001Z"}}`,
		},
		{"/apis/apps/v1/namespaces/default/controllerrevisions", `{"metadata":{"name":"x"},"revision":1,"data":{"a":1}}`},
		{
			"/api/v1/namespaces/default/pods",
			`{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]}}`,
		},
	}
	media := []string{"application/json", "application/yaml", mediaProtobuf}
	for i, k := range kinds {
		f.Add(i, 0, []byte(k.sample))
		f.Add(i, 1, []byte(k.sample))
		created := x.s.Do("POST", k.collection+"?dryRun=All", k.sample, "Accept", mediaProtobuf)
		if created.Code != http.StatusCreated {
			f.Fatalf("%s: %s", k.collection, created.Body)
		}
		f.Add(i, 2, created.Body)
	}
	for _, s := range unstorable {
		f.Add(slices.IndexFunc(kinds, func(k struct{ collection, sample string }) bool {
			return k.collection == s.collection
		}), 2, s.body())
	}
	f.Fuzz(func(t *testing.T, kind, in int, body []byte) {
		c := kinds[uint(kind)%uint(len(kinds))].collection
		w := x.send(http.MethodPost, c, "", media[uint(in)%uint(len(media))], string(body))
		check(t, w, badRevision, versioned)
		if w.Code != http.StatusCreated {
			return
		}
		created := apiservertest.Answer{Body: w.Body.Bytes()}.Object()
		if strings.ContainsRune(created.GetName(), utf8.RuneError) {
			return // names in protobuf may be invalid UTF-8, which JSON replaces
		}
		one := c + "/" + url.PathEscape(created.GetName())
		if got := x.send(http.MethodGet, one, "", "", ""); got.Code != http.StatusOK {
			t.Fatalf("stored, and read with %d: %s", got.Code, got.Body)
		}
		x.send(http.MethodPatch, one, "", mergePatch, `{"metadata":{"finalizers":null}}`)
		if got := x.send(http.MethodDelete, one, "gracePeriodSeconds=0", "", ""); got.Code != http.StatusOK {
			t.Fatalf("stored, and deleted with %d: %s", got.Code, got.Body)
		}
	})
}

// FuzzContinueToken sends any token, encoded or raw.
func FuzzContinueToken(f *testing.F) {
	x := fuzzed(f)
	for _, s := range []string{
		`{"v":"meta.k8s.io/v1","rv":3,"start":"a\u0000"}`, `{"v":"meta.k8s.io/v1","rv":-1,"start":"b"}`,
		`{"v":"meta.k8s.io/v1","rv":1,"start":"../a"}`, `{}`, `[]`, "x",
	} {
		f.Add(s, true)
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(s)), false)
	}
	f.Fuzz(func(t *testing.T, token string, encode bool) {
		raw := token
		if encode {
			token = base64.RawURLEncoding.EncodeToString([]byte(token))
		} else if b, err := base64.RawURLEncoding.DecodeString(token); err == nil {
			raw = string(b)
		}
		var k struct {
			RV int64 `json:"rv"`
		}
		newest, err := x.s.Store.Revision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal([]byte(raw), &k) == nil && k.RV > newest {
			t.Skip() // the server waits for a future revision
		}
		w := x.send(http.MethodGet, configmaps, url.Values{"continue": {token}, "limit": {"1"}}.Encode(), "", "")
		check(t, w)
		for _, item := range (apiservertest.Answer{Body: w.Body.Bytes()}).List().Items {
			if item.GetNamespace() != "default" {
				t.Fatalf("%s shows %v", raw, item)
			}
		}
	})
}
