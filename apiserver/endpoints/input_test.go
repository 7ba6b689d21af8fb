package endpoints_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestBodies: a body that is no object receives a Status; what is stored can be read.
func TestBodies(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	deep := strings.Repeat("[", 100_000)
	const yaml, jsonMedia = "application/yaml", "application/json"
	for _, c := range []struct {
		name, media, body string
		code              int
	}{
		{"open", jsonMedia, `{"metadata":{"name":"a"}`, 400},
		{"open string", jsonMedia, `{"metadata":{"name":"a`, 400},
		{"more behind", jsonMedia, `{"metadata":{"name":"a"}} x`, 400},
		{"two documents", jsonMedia, `{"metadata":{"name":"a"}}{"metadata":{"name":"b"}}`, 400},
		{"text", jsonMedia, `"text"`, 400},
		{"no JSON", jsonMedia, `x`, 400},
		{"list", jsonMedia, `[]`, 400},
		{"form", "application/x-www-form-urlencoded", "a=b", 415},
		{"number", jsonMedia, `7`, 400},
		{"NaN", jsonMedia, `{"metadata":{"name":"a"},"data":{"k":NaN}}`, 400},
		{"huge number", jsonMedia, `{"metadata":{"name":"a","generation":1e999}}`, 400},
		{"fraction", jsonMedia, `{"metadata":{"name":"a","generation":1.5}}`, 400},
		{"deep", jsonMedia, deep, 400},
		{"deep objects", jsonMedia, strings.Repeat(`{"a":`, 100_000), 400},
		{"deep and closed", jsonMedia, `{"metadata":{"name":"a"},"data":` + deep + strings.Repeat("]", 100_000) + `}`, 400},
		{"wrong metadata", jsonMedia, `{"metadata":[]}`, 400},
		{"wrong name", jsonMedia, `{"metadata":{"name":{}}}`, 400},
		{"wrong kind", jsonMedia, `{"kind":7}`, 400},
		{"null metadata", jsonMedia, `{"metadata":null}`, 422},
		{"NUL in a name", jsonMedia, "{\"metadata\":{\"name\":\"a\\u0000\"}}", 422},
		{"slash in a name", jsonMedia, `{"metadata":{"name":"a/b"}}`, 422},
		{"name like a parent", jsonMedia, `{"metadata":{"name":".."}}`, 422},
		{"invalid UTF-8 in a name", jsonMedia, "{\"metadata\":{\"name\":\"a\xff\"}}", 422},
		{"key that is a path", jsonMedia, `{"metadata":{"name":"a"},"data":{"../x":"y"}}`, 422},
		{"another namespace", jsonMedia, `{"metadata":{"name":"a","namespace":"default/../other"}}`, 400},
		{"another kind", jsonMedia, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`, 400},
		{"too much data", jsonMedia, `{"metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("a", 2_900_000) + `"}}`, 422},
		{"surrogate", jsonMedia, `{"metadata":{"name":"utf16"},"data":{"k":"\ud800"}}`, 201},
		{"invalid UTF-8", jsonMedia, "{\"metadata\":{\"name\":\"utf8\"},\"data\":{\"k\":\"\xff\xfe\"}}", 201},
		{"YAML that is none", yaml, "a: b: c", 400},
		{"YAML tab", yaml, "a:\n\tb", 400},
		{"YAML list", yaml, "- a", 400},
		{"YAML nothing", yaml, "", 422},
		{"YAML NaN", yaml, "metadata: {name: a}\ndata: {k: .nan}", 400},
		{"YAML infinite", yaml, "metadata: {name: a, generation: .inf}", 400},
		{"YAML deep", yaml, deep, 400},
		{"YAML deep blocks", yaml, strings.Repeat("- ", 100_000), 400},
		{"YAML of itself", yaml, "a: &a [*a]", 400},
		{"YAML unknown alias", yaml, "a: *b", 400},
		{"YAML of another language", yaml, "!!python/object/apply:os.system [a]", 400},
		{"YAML bomb", yaml, bomb(), 400},
		{
			"YAML long text many times", yaml,
			"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100_000) + "]\n", 400,
		},
		{
			"deep and long", jsonMedia,
			`{"x":` + strings.Repeat("[", 1000) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", 1000) + "}", 400,
		},
		{
			"YAML deep and long", yaml,
			"x: " + strings.Repeat("[", 1000) + strings.Repeat("x", 1<<20) + strings.Repeat("]", 1000), 400,
		},
		{"YAML binary key", yaml, "? [a]\n: b", 400},
		{"protobuf nothing", mediaProtobuf, "", 400},
		{"protobuf magic", mediaProtobuf, "k8s\x00", 400},
		{"protobuf noise", mediaProtobuf, "k8s\x00\xff\xff\xff\xff", 400},
		{"JSON as protobuf", mediaProtobuf, `{"metadata":{"name":"a"}}`, 400},
		{"protobuf as JSON", jsonMedia, "k8s\x00\x0a\x0f", 400},
		{"too much", jsonMedia, strings.Repeat(" ", 3<<20) + "{}", 413},
		{"much too much", yaml, strings.Repeat("x", 10<<20), 413},
	} {
		a := s.Do("POST", configmaps, c.body, "Content-Type", c.media)
		if a.Code != c.code {
			t.Errorf("%s: %d, want %d: %.300s", c.name, a.Code, c.code, a.Body)
		}
		if st := a.Status(); c.code != 201 && (st.Code != int32(c.code) || st.Reason == "" || len(st.Message) > 4096) {
			t.Errorf("%s: %.300s", c.name, a.Body)
		}
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprint(z, `{"metadata":{"name":"a"}}`, strings.Repeat(" ", 100<<20)) // a buffer takes everything
	_ = z.Close()
	must(t, s.Do("POST", configmaps, zipped.Bytes(), "Content-Encoding", "gzip"), http.StatusBadRequest)
	long := `{"metadata":{"name":"` + strings.Repeat("a", 1<<20) + `"}}`
	must(t, s.Do("POST", configmaps, long), http.StatusUnprocessableEntity)
	a := s.Do(
		"POST", "/apis/apps/v1/namespaces/default/controllerrevisions",
		`{"metadata":{"name":"big"},"data":{"k":"`+strings.Repeat("x", 2900<<10)+`"}}`,
	)
	if st := a.Status(); a.Code != 413 || st.Reason != metav1.StatusReasonRequestEntityTooLarge { // too large for etcd
		t.Errorf("%d %.300s", a.Code, a.Body)
	}
	if got := names(must(t, s.Do("GET", configmaps, nil), http.StatusOK).List()); strings.Join(got, " ") != "utf16 utf8" {
		t.Errorf("stored %v", got)
	}
}

// bomb is nine levels of nine aliases.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := 1; i <= 9; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9))
	}
	return b.String()
}

// TestPatchBodies: patches are bounded as other bodies are, and so is their result.
func TestPatchBodies(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	must(
		t, s.Do("POST", configmaps, configmap("a", map[string]string{"k": strings.Repeat("x", 64<<10)}, nil)),
		http.StatusCreated,
	)
	var copies []string
	for i := range 9000 {
		copies = append(copies, fmt.Sprintf(`{"op":"copy","from":"/data/k","path":"/data/k%d"}`, i))
	}
	const jsonPatch = "application/json-patch+json"
	for _, c := range []struct {
		name, media, body string
		code              int
	}{
		{"copies", jsonPatch, "[" + strings.Join(copies, ",") + "]", 422},
		// B-52
		{
			"too many", jsonPatch, "[" + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/x"},`, 10_001), ",") + "]",
			413,
		},
		{"null", jsonPatch, "null", 200},
		{"null operation", jsonPatch, "[null]", 422},
		{"no path", jsonPatch, `[{"op":"add"}]`, 422},
		{"far index", jsonPatch, `[{"op":"add","path":"/metadata/finalizers/99999999999","value":"a.io/x"}]`, 422},
		{"the whole", jsonPatch, `[{"op":"replace","path":"","value":7}]`, 422},
		{"deep", mergePatch, `{"data":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + "}", 400},
		{"deep enough", mergePatch, `{"data":{"k":` + strings.Repeat(`[`, 1000) + strings.Repeat("]", 1000) + "}}", 422},
		{
			"deep and long", mergePatch,
			`{"x":` + strings.Repeat("[", 1000) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", 1000) + "}", 400,
		},
		{"strategic text", "application/strategic-merge-patch+json", `"x"`, 400},
		{"strategic directive", "application/strategic-merge-patch+json", `{"$patch":"nonsense"}`, 500},
		{
			"strategic order", "application/strategic-merge-patch+json",
			`{"metadata":{"finalizers":["a.io/b"],"$setElementOrder/finalizers":["a.io/b",{}]}}`, 400,
		},
		{"strategic types", "application/strategic-merge-patch+json", `{"metadata":{"ownerReferences":{"a":1}}}`, 422},
		{"apply bomb", "application/apply-patch+yaml", bomb(), 400},
		{
			"apply long text", "application/apply-patch+yaml",
			"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100_000) + "]\n", 400,
		},
		{"too much", mergePatch, strings.Repeat(" ", 4<<20), 413},
		{"another name", mergePatch, `{"metadata":{"name":"b"}}`, 400},
		{"another UID", mergePatch, `{"metadata":{"uid":"b"}}`, 422},
		{"another version", mergePatch, `{"metadata":{"resourceVersion":"1"}}`, 409},
		{"no patch", "application/json", `{}`, 415},
	} {
		query := ""
		if strings.Contains(c.media, "apply") {
			query = "?fieldManager=m"
		}
		a := s.Do("PATCH", configmaps+"/a"+query, c.body, "Content-Type", c.media)
		if a.Code != c.code {
			t.Errorf("%s: %d, want %d: %.300s", c.name, a.Code, c.code, a.Body)
		}
	}
}

// TestLongLists: validation that compares the items of a list with each other must not take hours.
func TestLongLists(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	owners := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"apiVersion":"v1","kind":"A","name":"a","uid":"%d"}`, from+i)
		}
		return `{"metadata":{"name":"a","ownerReferences":[` + b.String()[1:] + "]}}"
	}
	must(t, s.Do("POST", configmaps+"?dryRun=All", owners(0, 40_000)), http.StatusCreated)
	must(t, s.Do("POST", configmaps, owners(0, 10_000)), http.StatusCreated)
	must(
		t, s.Do("PATCH", configmaps+"/a", owners(5000, 10_000), "Content-Type", "application/strategic-merge-patch+json"),
		http.StatusRequestEntityTooLarge,
	)
	must(
		t, s.Do("PATCH", configmaps+"/a", `{"data":{"k":"v"}}`, "Content-Type", "application/strategic-merge-patch+json"),
		http.StatusOK,
	)
}

// TestDeepProtobuf: half a million nested messages must not overflow the stack, and JSON inside of protobuf must not be
// stored if it is nested more deeply than can be read.
func TestDeepProtobuf(t *testing.T) {
	s := apiservertest.Start(t, nil)
	field := func(n protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
	}
	object := func(apiVersion, kind string, raw []byte) []byte {
		u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
		data, err := u.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte("k8s\x00"), data...)
	}
	name := field(1, field(1, []byte("x.example.com"))) // metadata.name
	tag := protowire.AppendTag(nil, 28, protowire.BytesType)
	for _, c := range []struct {
		tag      []byte
		depth    int
		rejected bool
	}{
		{tag, 500_000, true}, {tag, 5000, true}, {tag, 1000, false},
		// generated decoders ignore bits beyond the 64th
		{[]byte("\xe2\x81\x80\x80\x80\x80\x80\x80\x80\x02"), 200_000, true},
	} {
		// spec.versions.schema.openAPIV3Schema.not
		crd := append(name[:len(name):len(name)], field(2, field(7, field(4, field(1, nested(c.tag, c.depth)))))...)
		a := s.Do(
			"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			object("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd), "Content-Type", mediaProtobuf,
		)
		if a.Code >= 500 || (a.Code == http.StatusBadRequest) != c.rejected {
			t.Errorf("%d deep: %d %.300s", c.depth, a.Code, a.Body)
		}
	}
	const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions"
	deep := `{"a":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + "}"
	revision := append(name[:len(name):len(name)], field(2, field(1, []byte(deep)))...) // data.raw
	must(
		t, s.Do("POST", revisions, object("apps/v1", "ControllerRevision", revision), "Content-Type", mediaProtobuf),
		http.StatusBadRequest,
	)
	must(t, s.Do("GET", revisions, nil), http.StatusOK)
}

// nested is depth messages, each the field with that tag of the one around it.
func nested(tag []byte, depth int) []byte {
	var backwards []byte
	for range depth {
		head := protowire.AppendVarint(tag[:len(tag):len(tag)], uint64(len(backwards)))
		for i := len(head) - 1; i >= 0; i-- {
			backwards = append(backwards, head[i])
		}
	}
	out := make([]byte, 0, len(backwards))
	for i := len(backwards) - 1; i >= 0; i-- {
		out = append(out, backwards[i])
	}
	return out
}

// TestPaths: paths are split into segments and never cleaned: an unknown path is 404, an invalid segment 400 (0-17),
// and no path names the object of another.
func TestPaths(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 1)
	for path, code := range map[string]int{
		configmaps + "/m00/":                          200,
		configmaps + "/%6d00":                         200,
		"//api/v1/namespaces":                         404,
		"/api//v1/namespaces":                         404,
		"/api/v1//namespaces":                         404,
		"/apis//v1/namespaces":                        404,
		"/api/v1/namespaces//configmaps":              404,
		"/api/v1/namespaces/default//configmaps":      404,
		configmaps + "//":                             200, // slashes at the end are ignored
		configmaps + "//m00":                          404,
		configmaps + "/.":                             400,
		configmaps + "/..":                            400,
		configmaps + "/%2e%2e":                        400,
		configmaps + "/../secrets":                    400,
		configmaps + "/%2e%2e/secrets":                404,
		configmaps + "/a%2fb":                         404,
		configmaps + "/a%2Fb/":                        404,
		configmaps + "/a%252fb":                       400,
		configmaps + "/a%00":                          404,
		configmaps + "/%ff":                           404,
		configmaps + "/" + strings.Repeat("a", 5000):  404,
		"/api/v1/namespaces/..%2fdefault/configmaps":  404,
		"/api%2fv1/namespaces":                        200,
		"/api/v1%2fnamespaces":                        200,
		"/api/v1/watch":                               500,
		"/api/v1/watch/":                              500,
		"/api/v1/watch/watch/configmaps":              404,
		"/api/v1/namespaces/default/namespaces":       404,
		"/api/v1/namespaces/default/configmaps;x/m00": 404,
		"/version/":                                   200,
		"/healthz/../version":                         404,
	} {
		if a := s.Do("GET", path, nil); a.Code != code && !(code == 400 && a.Code == 404 && strings.Contains(path, "/../")) {
			t.Errorf("%.100s: %d, want %d: %.200s", path, a.Code, code, a.Body)
		}
	}
}

// TestMethods tests unknown and unusual methods.
func TestMethods(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 1)
	for _, method := range []string{"HEAD", "OPTIONS", "TRACE", "FOO", "QUERY", "get"} {
		for _, path := range []string{configmaps, configmaps + "/m00", "/api/v1"} {
			a := s.Do(method, path, nil)
			if a.Code != http.StatusMethodNotAllowed ||
				method != "HEAD" && a.Status().Reason != metav1.StatusReasonMethodNotAllowed {
				t.Errorf("%s %s: %d %s", method, path, a.Code, a.Body)
			}
		}
	}
	must(t, s.Do("GET", configmaps+"/m00", "a body that is ignored"), http.StatusOK)
}

// TestQueries tests repeated and invalid values.
func TestQueries(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 3)
	// It continues at ../other/secrets/hidden.
	const foreign = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi9vdGhlci9zZWNyZXRzL2hpZGRlbiJ9"
	for query, code := range map[string]int{
		"limit=1&limit=abc":                    200, // the first counts
		"limit=abc&limit=1":                    400,
		"limit=":                               400,
		"limit=-1":                             200,
		"limit=-9223372036854775808":           200,
		"limit=9223372036854775807":            200,
		"limit=9223372036854775808":            400,
		"limit=1.5":                            400,
		"limit=0x1":                            400,
		"timeoutSeconds=x":                     400,
		"timeoutSeconds=-1":                    200,
		"resourceVersion=-1":                   400,
		"resourceVersion=+1":                   400,
		"resourceVersion=0&resourceVersion=x":  200,
		"resourceVersion=99999999999999999999": 400,
		"%zz=1&limit=1":                        200,
		"limit=1;limit=2":                      200,
		"labelSelector=" + strings.Repeat("a%2C", 5000) + "a": 200,
		"labelSelector=%00":                                            200, // an end, to the selector's grammar
		"labelSelector=%ff":                                            400,
		"labelSelector=a%3D" + strings.Repeat("b", 64):                 400,
		"fieldSelector=metadata.name%3D" + strings.Repeat("x", 10_000): 200,
		"fieldSelector=metadata.name%3D..%2F..%2Fsecrets":              200,
		"fieldSelector=metadata.namespace%3D":                          200,
		"continue=%00":                                                 400,
		"continue=" + foreign:                                          400,
		"continue=" + strings.Repeat("A", 20_000):                      400,
		"pretty=maybe":                                                 200,
		"watch=false":                                                  200,
		"watch=0":                                                      200,
		"watch=x&timeoutSeconds=abc":                                   400,
		strings.Repeat("a=b&", 20_000):                                 200,
	} {
		if a := s.Do("GET", configmaps+"?"+query, nil); a.Code != code {
			t.Errorf("%.100s: %d, want %d: %.200s", query, a.Code, code, a.Body)
		}
	}
}

// TestHeaders: headers that are too large are rejected before they are kept.
func TestHeaders(t *testing.T) {
	s := apiservertest.Start(t, nil)
	for name, c := range map[string]struct {
		header string
		code   int
	}{
		"one of 2 MiB":      {"X-Large: " + strings.Repeat("x", 2<<20) + "\n", 431},
		"100,000":           {strings.Repeat("X-Many-Headers: xxxxxx\n", 100_000), 431},
		"10,000":            {strings.Repeat("X-Many: x\n", 10_000), 200},
		"two lengths":       {"Content-Length: 1\nContent-Length: 2\n", 400},
		"length and chunks": {"Content-Length: 1\nTransfer-Encoding: zip\n", 501},
		"negative length":   {"Content-Length: -1\n", 400},
		"unknown encoding":  {"Transfer-Encoding: zip\n", 501},
		"odd accept":        {"Accept: ;;,/,*;q=x,application/json;=;as;q=2\n", 200},
		"empty accept":      {"Accept: ,\n", 406},
		"odd type":          {"Content-Type: ;;=\n", 200},
		"second host":       {"Host: other\n", 400},
	} {
		l := dial(t, s)
		// The response may arrive, and the connection be closed, before all has been sent.
		_, _ = io.WriteString(
			l, "GET "+configmaps+" HTTP/1.1\r\nHost: localhost\r\n"+strings.ReplaceAll(c.header, "\n", "\r\n"),
		)
		_, _ = io.WriteString(l, "Connection: close\r\n\r\n")
		resp, err := http.ReadResponse(l.r, nil)
		if err != nil {
			if c.code != 431 { // a reset may overtake the response
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if resp.StatusCode != c.code {
			body, _ := io.ReadAll(resp.Body)
			t.Errorf("%s: %d, want %d: %.300s", name, resp.StatusCode, c.code, body)
		}
		resp.Body.Close()
	}
	must(t, s.Do("GET", configmaps, nil), http.StatusOK)
}

// TestChunks: a body without a length is bounded all the same (0-14).
func TestChunks(t *testing.T) {
	s := apiservertest.Start(t, nil)
	l := dial(t, s)
	l.say("POST %s HTTP/1.1\nHost: localhost\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n", configmaps)
	chunk := "100000\r\n" + strings.Repeat("x", 1<<20) + "\r\n"
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 10 {
			if _, err := io.WriteString(l, chunk); err != nil {
				return // the server has sent its response
			}
		}
	}()
	a := must(t, l.receive(), http.StatusRequestEntityTooLarge)
	if a.Status().Message != "Request entity too large: limit is 3145728" {
		t.Errorf("%s", a.Body)
	}
	l.Close()
	<-done
	must(t, s.Do("GET", configmaps, nil), http.StatusOK)
}
