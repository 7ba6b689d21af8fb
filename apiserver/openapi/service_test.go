package openapi

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

type response struct {
	code   int
	header http.Header
	body   []byte
}

// get sends a request with headers as "Name: value" and returns the uncompressed response.
func get(t *testing.T, s *Service, url string, headers ...string) response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, url, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	handler := s.V3()
	if strings.HasPrefix(url, "/openapi/v2") {
		handler = s.V2()
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	var body io.Reader = w.Body
	if w.Header().Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(w.Body); err != nil {
			t.Fatal(err)
		}
	}
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return response{w.Code, w.Header(), data}
}

func withCustom() []Type { return append(served(), cronTabs()) }

// index returns the URLs of the documents by path.
func index(t *testing.T, s *Service) map[string]string {
	t.Helper()
	var list struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(get(t, s, "/openapi/v3").body, &list); err != nil {
		t.Fatal(err)
	}
	urls := map[string]string{}
	for path, entry := range list.Paths {
		urls[path] = entry.ServerRelativeURL
	}
	return urls
}

func TestIndexListsPathsAndBuildsNothing(t *testing.T) {
	s := New("v1.37.2", withCustom)
	urls := index(t, s)
	want := []string{
		".well-known/openid-configuration", "api", "api/v1", "apis", "apis/apiextensions.k8s.io",
		"apis/apiextensions.k8s.io/v1",
		"apis/apps", "apis/apps/v1", "apis/authentication.k8s.io", "apis/authentication.k8s.io/v1", "apis/autoscaling",
		"apis/autoscaling/v2",
		"apis/batch", "apis/batch/v1", "apis/discovery.k8s.io", "apis/discovery.k8s.io/v1",
		"apis/flowcontrol.apiserver.k8s.io", "apis/flowcontrol.apiserver.k8s.io/v1", "apis/policy", "apis/policy/v1",
		"apis/stable.example.com/v1", "openid/v1/jwks", "version",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(urls))); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(urls["apis/apps/v1"], "/openapi/v3/apis/apps/v1?hash=") {
		t.Errorf("url of apps/v1: %s", urls["apis/apps/v1"])
	}
	if kind := get(t, s, "/openapi/v3").header.Get("Content-Type"); kind != "text/plain; charset=utf-8" {
		t.Errorf("content type of the index: %s", kind)
	}
	for path, d := range s.current.v3 {
		if d.json != nil || d.protobuf != nil {
			t.Errorf("the index built the document of %s", path)
		}
	}
}

func TestStaleHashRedirectsToCurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New("v1.37.2", withCustom)
		url := index(t, s)["apis/apps/v1"]
		sum := strings.TrimPrefix(url, "/openapi/v3/apis/apps/v1?hash=")

		current := get(t, s, url)
		if current.code != http.StatusOK || current.header.Get("Etag") != `"`+sum+`"` {
			t.Errorf("with the current hash: %d %v", current.code, current.header)
		}
		if c := current.header.Get("Cache-Control"); c != "public, immutable" {
			t.Errorf("cache control: %q", c)
		}
		if e := current.header.Get("Expires"); e != time.Now().AddDate(1, 0, 0).Format(time.RFC1123) {
			t.Errorf("expires: %q", e)
		}
		stale := get(t, s, "/openapi/v3/apis/apps/v1?hash=0")
		if stale.code != http.StatusMovedPermanently || stale.header.Get("Location") != url {
			t.Errorf("with a stale hash: %d to %q", stale.code, stale.header.Get("Location"))
		}
		none := get(t, s, "/openapi/v3/apis/apps/v1")
		if none.code != http.StatusOK || none.header.Get("Cache-Control") != "" {
			t.Errorf("without a hash: %d %v", none.code, none.header)
		}
		for _, path := range []string{"/openapi/v3/apis/apps/v1", "/openapi/v2"} {
			again := get(t, s, path, "If-None-Match: "+get(t, s, path).header.Get("Etag"))
			if again.code != http.StatusNotModified || len(again.body) != 0 {
				t.Errorf("%s, when the client has it: %d", path, again.code)
			}
		}
	})
}

func TestNegotiation(t *testing.T) {
	const (
		v2Protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
		v3Protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
	)
	s := New("v1.37.2", served)
	for _, c := range []struct {
		url, accept, encoding string
		code                  int
		contentType, packed   string
	}{
		{"/openapi/v3/version", "", "", 200, "application/json", ""},
		{"/openapi/v3/version", "*/*", "gzip", 200, "application/json", "gzip"},
		{"/openapi/v3/version", "application/*", "br, gzip;q=0", 200, "application/json", ""},
		{"/openapi/v3/version", "text/html, application/json;q=0.5", "", 200, "application/json", ""},
		{"/openapi/v3/version", v3Protobuf, "", 200, v3Protobuf, ""},
		{
			"/openapi/v3/version", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", "deflate, gzip", 200,
			v3Protobuf, "gzip",
		},
		{"/openapi/v3/version", v2Protobuf, "", 406, "", ""},
		{"/openapi/v3/version", "text/html", "", 406, "", ""},
		{"/openapi/v3/apis/none/v1", "", "", 404, "", ""},
		{"/openapi/v2", "", "gzip", 200, "application/json", "gzip"},
		{"/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "", 200, v2Protobuf, ""},
		{"/openapi/v2", v2Protobuf, "gzip", 200, v2Protobuf, "gzip"},
		{"/openapi/v2", v3Protobuf, "", 406, "", ""},
	} {
		r := get(t, s, c.url, "Accept: "+c.accept, "Accept-Encoding: "+c.encoding)
		got := []any{r.code, r.header.Get("Content-Type"), r.header.Get("Content-Encoding")}
		if diff := cmp.Diff([]any{c.code, c.contentType, c.packed}, got); diff != "" {
			t.Errorf("%s, accepting %q, %q (-want +got):\n%s", c.url, c.accept, c.encoding, diff)
		}
	}
}

// TestDocumentsAreValid: kube-openapi's types can decode every document, which has the same bytes each time and
// contains all schemas to which it refers.
func TestDocumentsAreValid(t *testing.T) {
	first, second := New("v1.37.2", withCustom), New("v1.37.2", withCustom)
	for path, url := range index(t, first) {
		data := get(t, first, url).body
		var document spec3.OpenAPI
		if err := json.Unmarshal(data, &document); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if document.Version != "3.0.0" || document.Info.Title != "Kubernetes" || document.Info.Version != "v1.37.2" {
			t.Errorf("%s: head %q %v", path, document.Version, document.Info)
		}
		checkRefs(t, path, data, "#/components/schemas/", maps.Keys(document.Components.Schemas))
		if string(get(t, second, url).body) != string(data) {
			t.Errorf("%s comes out differently the second time", path)
		}
		var binary openapiv3.Document
		packed := get(t, first, url, "Accept: application/com.github.proto-openapi.spec.v3.v1.0+protobuf").body
		if err := proto.Unmarshal(packed, &binary); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if n := len(binary.GetPaths().GetPath()); n != len(document.Paths.Paths) {
			t.Errorf("%s has %d paths in protobuf and %d in JSON", path, n, len(document.Paths.Paths))
		}
	}
	data := get(t, first, "/openapi/v2").body
	var document spec.Swagger
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	checkRefs(t, "v2", data, "#/definitions/", maps.Keys(document.Definitions))
	checkRefs(t, "v2", data, "#/parameters/", maps.Keys(document.Parameters))
	if string(get(t, second, "/openapi/v2").body) != string(data) {
		t.Error("v2 comes out differently the second time")
	}
	var binary openapiv2.Document
	if err := proto.Unmarshal(
		get(t, first, "/openapi/v2", "Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf").body, &binary,
	); err != nil {
		t.Fatal(err)
	}
	if n := len(binary.GetDefinitions().GetAdditionalProperties()); n != len(document.Definitions) {
		t.Errorf("v2 has %d definitions in protobuf and %d in JSON", n, len(document.Definitions))
	}
}

// checkRefs reports references to missing schemas, and schemas that are not referred to.
func checkRefs(t *testing.T, path string, document []byte, prefix string, names func(func(string) bool)) {
	t.Helper()
	there := map[string]bool{}
	for name := range names {
		there[prefix+name] = false
	}
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && strings.HasPrefix(ref, prefix) {
				if _, ok := there[ref]; !ok {
					t.Errorf("%s refers to %s", path, ref)
				}
				there[ref] = true
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(v)
	for ref, used := range there {
		if !used {
			t.Errorf("%s has %s and doesn't refer to it", path, ref)
		}
	}
}

func TestInvalidate(t *testing.T) {
	types := served()
	s := New("v1.37.2", func() []Type { return types })
	before := index(t, s)
	get(t, s, before["apis/apps/v1"])
	apps, swagger := s.current.v3["apis/apps/v1"], s.current.v2

	types = append(slices.Clone(types), cronTabs())
	if diff := cmp.Diff(before, index(t, s)); diff != "" {
		t.Errorf("source was asked without reason:\n%s", diff)
	}
	s.Invalidate()
	after := index(t, s)
	if s.current.v3["apis/apps/v1"] != apps {
		t.Error("a document that didn't change was dropped")
	}
	if s.current.v2 == swagger || s.current.v2.sum == swagger.sum {
		t.Error("v2 isn't new though a type is")
	}
	custom := after["apis/stable.example.com/v1"]
	if custom == "" {
		t.Fatal("the new type has no document")
	}
	delete(after, "apis/stable.example.com/v1")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("hashes of other documents changed:\n%s", diff)
	}

	changed := cronTabs()
	changed.Custom.Sum = "2"
	types[len(types)-1] = changed
	s.Invalidate()
	if index(t, s)["apis/stable.example.com/v1"] == custom {
		t.Error("a changed schema has the hash of the old one")
	}
}

// TestReusedDocumentsKeepNothingElse: an unchanged document refers neither to the types of other documents nor to the
// list and the snapshot from which it was built. Otherwise memory would grow with the square of the number of changes.
func TestReusedDocumentsKeepNothingElse(t *testing.T) {
	other := func() Type {
		o := cronTabs()
		o.Group = "other.example.com"
		return o
	}
	types := append(served(), cronTabs(), other())
	s := New("v1.37.2", func() []Type { return types })
	for _, path := range slices.Sorted(maps.Keys(index(t, s))) {
		get(t, s, "/openapi/v3/"+path)
	}
	get(t, s, "/openapi/v2")
	changing := &types[len(types)-2]
	custom, list, snapshot := weak.Make(changing.Custom), weak.Make(&types[0]), weak.Make(s.current)
	kept := s.current.v3["apis/other.example.com/v1"]

	changed := cronTabs()
	changed.Custom.Sum = "2"
	types = append(served(), changed, other())
	changing = nil
	s.Invalidate()
	index(t, s)
	if s.current.v3["apis/other.example.com/v1"] != kept {
		t.Error("a document that didn't change was dropped")
	}
	runtime.GC()
	if custom.Value() != nil || list.Value() != nil || snapshot.Value() != nil {
		t.Errorf(
			"kept: type %v, list %v, snapshot %v", custom.Value() != nil, list.Value() != nil, snapshot.Value() != nil)
	}
	runtime.KeepAlive(s)
}

// TestIndexMakesNoSchema: a change of one definition must not parse all others.
func TestIndexMakesNoSchema(t *testing.T) {
	lazy := cronTabs()
	lazy.Custom.Schema = func(bool) (*spec.Schema, error) {
		t.Error("the index makes a schema")
		return nil, nil
	}
	index(t, New("v1.37.2", func() []Type { return append(served(), lazy) }))
}

// TestWithoutSchema: a custom type whose schema can't be built is missing from the documents, and all others are
// present.
func TestWithoutSchema(t *testing.T) {
	broken, fine := cronTabs(), cronTabs()
	broken.Kind, broken.Plural = "Broken", "brokens"
	broken.Custom.Schema = func(bool) (*spec.Schema, error) { return nil, errors.New("broken") }
	s := New("v1.37.2", func() []Type { return []Type{broken, fine} })
	for _, path := range []string{"/openapi/v3/apis/stable.example.com/v1", "/openapi/v2"} {
		body := string(get(t, s, path).body)
		if strings.Contains(body, "brokens") || !strings.Contains(body, "/crontabs") {
			t.Errorf("%s: %.200s", path, body)
		}
	}
}

// TestV2InPieces: the v2 document that is built in pieces equals the one that is built from all types.
func TestV2InPieces(t *testing.T) {
	other := cronTabs()
	other.Group, other.Kind, other.Custom.ListKind = "other.example.com", "Other", "OtherList"
	types := append(withCustom(), other)
	base, all := builtinOf("v1.37.2", types), parts(types)
	whole, err := buildV2(base, all)
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	got, err := encodeV2(base, all, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var wants, gots any
	if err := errors.Join(json.Unmarshal(want, &wants), json.Unmarshal(got, &gots)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wants, gots); diff != "" {
		t.Errorf("(-whole +pieces):\n%s", diff)
	}
}

// TestBuildsOnce: concurrent requests for a document wait for one build of it.
func TestBuildsOnce(t *testing.T) {
	builds := 0
	d := &document{build: func(bool) ([]byte, error) { builds++; return []byte("{}"), nil }}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := d.compressed(false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if builds != 1 {
		t.Errorf("built %d times", builds)
	}
}

func TestDefinitions(t *testing.T) {
	definitions, err := Definitions(cronTabs())
	if err != nil {
		t.Fatal(err)
	}
	if definitions["com.example.stable.v1.CronTab"] == nil {
		t.Error("the custom type has no schema")
	}
	broken, cause := cronTabs(), errors.New("broken")
	broken.Custom.Schema = func(bool) (*spec.Schema, error) { return nil, cause }
	if _, err := Definitions(broken); !errors.Is(err, cause) {
		t.Errorf("without a schema: %v", err)
	}
}

// TestIndexIsNeverOld: kubectl sends the time of its cached index, which does not show whether types were added within
// the same second.
func TestIndexIsNeverOld(t *testing.T) {
	s := New("v1.37.2", withCustom)
	first := get(t, s, "/openapi/v3")
	if a := get(t, s, "/openapi/v3", "If-Modified-Since: "+first.header.Get("Last-Modified")); a.code != http.StatusOK ||
		len(a.body) == 0 {
		t.Errorf("%d, %d bytes", a.code, len(a.body))
	}
}
