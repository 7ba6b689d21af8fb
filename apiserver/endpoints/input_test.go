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

// TestBodyWithoutObjectGetsStatus: a body that is not an object gets a Status. Stored objects can be read.
func TestBodyWithoutObjectGetsStatus(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	deep := strings.Repeat("[", 100_000)
	const yaml, jsonMedia = "application/yaml", "application/json"
	for _, c := range []struct {
		name, media, body string
		code              int
	}{
		{"deep", jsonMedia, deep, 400},
		{"deep objects", jsonMedia, strings.Repeat(`{"a":`, 100_000), 400},
		{"deep and closed", jsonMedia, `{"metadata":{"name":"a"},"data":` + deep + strings.Repeat("]", 100_000) + `}`, 400},
		{"invalid UTF-8 in a name", jsonMedia, "{\"metadata\":{\"name\":\"a\xff\"}}", 422},
		{"too much data", jsonMedia, `{"metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("a", 2_900_000) + `"}}`, 422},
		{"invalid UTF-8", jsonMedia, "{\"metadata\":{\"name\":\"utf8\"},\"data\":{\"k\":\"\xff\xfe\"}}", 201},
		{"YAML deep", yaml, deep, 400},
		{"YAML deep blocks", yaml, strings.Repeat("- ", 100_000), 400},
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
		{"protobuf magic", mediaProtobuf, "k8s\x00", 400},
		{"protobuf noise", mediaProtobuf, "k8s\x00\xff\xff\xff\xff", 400},
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
	a := s.Do("POST", "/apis/apps/v1/namespaces/default/controllerrevisions",
		`{"metadata":{"name":"big"},"data":{"k":"`+strings.Repeat("x", 2900<<10)+`"}}`)
	if st := a.Status(); a.Code != 413 || st.Reason != metav1.StatusReasonRequestEntityTooLarge { // too large for etcd
		t.Errorf("%d %.300s", a.Code, a.Body)
	}
	if got := names(must(t, s.Do("GET", configmaps, nil), http.StatusOK).List()); strings.Join(got, " ") != "utf8" {
		t.Errorf("stored %v", got)
	}
}

// TestDeepProtobuf: half a million nested messages must not overflow the stack. JSON in protobuf must not be stored if
// it is nested too deep to be read.
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
		a := s.Do("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			object("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd), "Content-Type", mediaProtobuf)
		if a.Code >= 500 || (a.Code == http.StatusBadRequest) != c.rejected {
			t.Errorf("%d deep: %d %.300s", c.depth, a.Code, a.Body)
		}
	}
	const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions"
	deep := `{"a":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + "}"
	revision := append(name[:len(name):len(name)], field(2, field(1, []byte(deep)))...) // data.raw
	must(t, s.Do("POST", revisions, object("apps/v1", "ControllerRevision", revision), "Content-Type", mediaProtobuf),
		http.StatusBadRequest)
	must(t, s.Do("GET", revisions, nil), http.StatusOK)
}

// nested returns a number of nested messages. Each is the field with the tag in the message around it.
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

// TestLargeAndAmbiguousHeadersAreRejected: headers that are too large are rejected before they are kept.
func TestLargeAndAmbiguousHeadersAreRejected(t *testing.T) {
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
			l, "GET "+configmaps+" HTTP/1.1\r\nHost: localhost\r\n"+strings.ReplaceAll(c.header, "\n", "\r\n"))
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

// TestChunkedBodiesAreLimited: a body without a Content-Length is limited, too (0-14).
func TestChunkedBodiesAreLimited(t *testing.T) {
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
