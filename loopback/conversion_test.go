package loopback_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// review is a ConversionReview as a webhook sees it.
type review struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Request    struct {
		UID               string           `json:"uid"`
		DesiredAPIVersion string           `json:"desiredAPIVersion"`
		Objects           []map[string]any `json:"objects"`
	} `json:"request"`
	Response any `json:"response,omitempty"`
}

// webhook turns spec.address (host:port) of v1 into spec.host and spec.port of v2, and back.
type webhook struct {
	*httptest.Server
	// calls and objects count reviews and what was in them.
	calls, objects atomic.Int64
	// spoil may change an answer.
	spoil atomic.Pointer[func(w http.ResponseWriter, response map[string]any) bool]
}

func startWebhook(t *testing.T) *webhook {
	w := &webhook{}
	w.Server = httptest.NewTLSServer(w)
	t.Cleanup(w.Close)
	return w
}

func (w *webhook) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.calls.Add(1)
	var in review
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Query().Get("timeout") != "30s" {
		http.Error(rw, "bad request", http.StatusBadRequest)
		return
	}
	w.answer(rw, &in)
}

// answer answers a review.
func (w *webhook) answer(rw http.ResponseWriter, in *review) {
	w.objects.Add(int64(len(in.Request.Objects)))
	objects := []any{}
	for _, o := range in.Request.Objects {
		spec, _ := o["spec"].(map[string]any)
		switch o["apiVersion"] = in.Request.DesiredAPIVersion; {
		case strings.HasSuffix(in.Request.DesiredAPIVersion, "/v2"):
			host, port, _ := strings.Cut(fmt.Sprint(spec["address"]), ":")
			n, _ := strconv.Atoi(port)
			o["spec"] = map[string]any{"host": host, "port": n}
		default:
			o["spec"] = map[string]any{"address": fmt.Sprintf("%v:%v", spec["host"], spec["port"])}
		}
		m := o["metadata"].(map[string]any)
		m["labels"], m["generation"] = map[string]any{"converted": "yes"}, 77 // only labels may change
		objects = append(objects, o)
	}
	response := map[string]any{
		"uid": in.Request.UID, "convertedObjects": objects, "result": map[string]any{"status": "Success"},
	}
	if f := w.spoil.Load(); f != nil && (*f)(rw, response) {
		return
	}
	// the server notices
	_ = json.NewEncoder(rw).Encode(map[string]any{"apiVersion": in.APIVersion, "kind": in.Kind, "response": response})
}

func (w *webhook) config() string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw})
	return fmt.Sprintf(`{"url":%q,"caBundle":%q}`, w.URL+"/convert", base64.StdEncoding.EncodeToString(ca))
}

// routes returns a definition of two versions that only a webhook can convert.
func routes(client string) string {
	v1 := version("v1", true,
		`"spec":{"type":"object","required":["address"],"properties":{"address":{"type":"string"}}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}`,
		`,"subresources":{"status":{}}`)
	v2 := version("v2", false,
		`"spec":{"type":"object","required":["host","port"],"properties":{"host":{"type":"string"},"port":{"type":"integer","maximum":99}}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}`,
		`,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.port","statusReplicasPath":".status.n"}},"additionalPrinterColumns":[{"name":"Port","type":"integer","jsonPath":".spec.port"}],"selectableFields":[{"jsonPath":".spec.host"}]`)
	return strings.Replace(
		widgets("widgets", "Widget", v1, v2), `"versions":`,
		`"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v7","v1"],"clientConfig":`+client+
			`}},"versions":`,
		1,
	)
}

// widgetA is a widget of routes.
const widgetA = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"address":"x:1"}}`

const v2widgets = "/apis/example.com/v2/namespaces/default/widgets"

// TestWebhookConversion: every verb works on a version that isn't stored, by its own schema.
func TestWebhookConversion(t *testing.T) {
	s, hook := defined(t, nil), startWebhook(t)
	define(t, s, routes(hook.config()))
	first := s.Do("POST", v1widgets, widgetA).Object()
	got := s.Do("GET", v2widgets+"/a", nil)
	expect(t, got, http.StatusOK, `"spec":{"host":"x","port":1}`)
	if o := got.Object(); o.GetGeneration() != 1 || o.GetLabels()["converted"] != "yes" {
		t.Errorf("%s", got.Body)
	}
	b := func(port int) string { return widget("v2", "b", fmt.Sprintf(`"host":"y","port":%d`, port)) }
	expect(t, s.Do("POST", v2widgets, b(100)), http.StatusUnprocessableEntity,
		`spec.port in body should be less than or equal to 99`)
	expect(t, s.Do("POST", v2widgets, b(2)), http.StatusCreated, `"spec":{"host":"y","port":2}`)
	expect(t, s.Do("GET", v1widgets+"/b", nil), http.StatusOK, `"spec":{"address":"y:2"}`)
	for _, c := range []struct{ path, body, want string }{
		{"", `{"spec":{"port":3}}`, `"spec":{"host":"y","port":3}`},
		{"/scale", `{"spec":{"replicas":4}}`, `"spec":{"replicas":4}`},
		{"/status", `{"status":{"n":1},"spec":{"port":50}}`, `"spec":{"host":"y","port":4},"status":{"n":1}`},
	} {
		expect(t, s.Do("PATCH", v2widgets+"/b"+c.path, c.body), http.StatusOK, c.want)
	}
	expect(t, s.Do("PATCH", v2widgets+"/b?fieldManager=m&force=true", widget("v2", "b", `"port":5`), apply...),
		http.StatusOK, `"spec":{"host":"y","port":5}`)
	expect(t, s.Do("PATCH", v1widgets+"/b?fieldManager=n", widget("v1", "b", `"address":"z:6"`), apply...),
		http.StatusConflict)
	before := hook.calls.Load()
	expect(t, s.Do("GET", v2widgets, nil), http.StatusOK, `"spec":{"host":"x","port":1}`)
	expect(t, s.Do("GET", v2widgets, nil, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"), http.StatusOK, `"cells":["b",5]`)
	expect(t, s.Do("GET", v2widgets, nil, "Accept", "application/yaml"), http.StatusOK, "port: 5")
	if n := hook.calls.Load() - before; n != 3 {
		t.Errorf("three lists are %d calls", n)
	}
	if a := s.Do("GET", v2widgets+"?fieldSelector=spec.host%3Dy", nil); len(a.List().Items) != 1 ||
		a.List().Items[0].GetName() != "b" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	w := s.Watch(v2widgets + "?watch=1&resourceVersion=" + first.GetResourceVersion())
	for _, want := range []string{"y2", "y3", "y4", "y4", "y5"} {
		e, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ := unstructured.NestedString(e.Object.Object, "spec", "host")
		if port := e.Object.Object["spec"].(map[string]any)["port"]; e.Object.GetAPIVersion() != "example.com/v2" ||
			host+fmt.Sprint(port) != want {
			t.Errorf("%v, want %s", e.Object, want)
		}
	}
	do(t, s, "DELETE", v2widgets+"/b", "")
	gone(t, w, "b")
}

// TestWebhookFailures: an object that can't be converted is an error, and is never left out; the stored version is
// served and deleted all the same.
func TestWebhookFailures(t *testing.T) {
	s, hook := defined(t, nil), startWebhook(t)
	define(t, s, routes(hook.config()))
	for _, name := range []string{"a", "b"} {
		do(t, s, "POST", v1widgets, widget("v1", name, `"address":"x:1"`))
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("redirect followed: objects were sent to another address, over http")
	}))
	defer elsewhere.Close()
	const failed = "conversion webhook for example.com/v1, Kind=Widget "
	for _, c := range []struct {
		name  string
		spoil func(w http.ResponseWriter, response map[string]any) bool
		want  string
	}{
		{"refusal", func(_ http.ResponseWriter, r map[string]any) bool {
			r["result"] = map[string]any{"status": "Failure", "message": "no way"}
			return false
		}, failed + "failed: no way"},
		{"refusal without a word",
			func(_ http.ResponseWriter, r map[string]any) bool { r["result"] = map[string]any{}; return false },
			failed + "failed: response.result.status was '', not 'Success'"},
		{"uid", func(_ http.ResponseWriter, r map[string]any) bool {
			r["uid"] = "u"
			return false
		}, failed + "failed: expected response.uid="},
		{"too few", func(_ http.ResponseWriter, r map[string]any) bool {
			r["convertedObjects"] = []any{}
			return false
		}, failed + "returned 0 objects, expected "},
		{"another name", func(_ http.ResponseWriter, r map[string]any) bool {
			r["convertedObjects"].([]any)[0].(map[string]any)["metadata"].(map[string]any)["name"] = "z"
			return false
		}, failed + "returned invalid object: must have the same name: a != z"},
		{"another kind", func(_ http.ResponseWriter, r map[string]any) bool {
			r["convertedObjects"].([]any)[0].(map[string]any)["kind"] = "Gadget"
			return false
		}, failed + "returned invalid object at index 0: invalid kind (expected Widget, received Gadget)"},
		{"a bad label", func(_ http.ResponseWriter, r map[string]any) bool {
			r["convertedObjects"].([]any)[0].(map[string]any)["metadata"].(map[string]any)["labels"] = map[string]any{"a": "!"}
			return false
		}, failed + "returned invalid metadata: metadata.labels: Invalid value: "},
		{"an error", func(w http.ResponseWriter, _ map[string]any) bool { http.Error(w, "broken", 500); return true },
			failed +
				"failed: the webhook answered with the status code 500 (Internal Server Error) instead of a ConversionReview"},
		{"a page", func(w http.ResponseWriter, _ map[string]any) bool {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(502)
			_, _ = w.Write([]byte("<b>no</b>\n"))
			return true
		}, failed + "failed: the webhook answered with the status code 502 (Bad Gateway) instead of a ConversionReview"},
		{"a status", func(w http.ResponseWriter, _ map[string]any) bool {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(403)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not you","code":403}`))
			return true
		}, failed + "failed: the webhook answered with the status code 403 (Forbidden) instead of a ConversionReview"},
		{"a redirect", func(w http.ResponseWriter, _ map[string]any) bool {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(307)
			return true
		},
			failed + "failed: the webhook answered with the status code 307 (Temporary Redirect) instead of a ConversionReview"},
		{"silence", func(w http.ResponseWriter, _ map[string]any) bool {
			w.Header().Set("Content-Type", "text/plain")
			return true
		},
			failed + "failed: 0-length response with status code: 200 and content type: text/plain"},
		{"nothing", func(w http.ResponseWriter, _ map[string]any) bool {
			_, _ = w.Write([]byte(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"}`))
			return true
		},
			failed + "failed: no response provided"},
		{"another document", func(w http.ResponseWriter, _ map[string]any) bool { _, _ = w.Write([]byte(`{}`)); return true },
			failed + "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind="},
	} {
		hook.spoil.Store(&c.spoil)
		for _, path := range []string{v2widgets + "/a", v2widgets} {
			var st struct {
				Message string
				Code    int
			}
			if err := json.Unmarshal(s.Do("GET", path, nil).Body, &st); err != nil ||
				st.Code != http.StatusInternalServerError || !strings.HasPrefix(st.Message, c.want) {
				t.Errorf("%s: %d %s, want %s", c.name, st.Code, st.Message, c.want)
			}
		}
	}
	if e, err := s.Watch(v2widgets + "?watch=1").Next(); err != nil || e.Type != "ERROR" {
		t.Errorf("a watch goes on without what it can't show: %v %v", e, err)
	}
	do(t, s, "GET", v1widgets, "")
	do(t, s, "DELETE", v1widgets+"/a", "")
	w := s.Watch(definitions + "?watch=1")
	do(t, s, "DELETE", definitions+"/widgets.example.com", "")
	gone(t, w, "widgets.example.com")
}

// TestWebhookByService: a conversion webhook that is configured by a Service is reached at the Service's address.
func TestWebhookByService(t *testing.T) {
	w := &webhook{}
	w.Server = httptest.NewUnstartedServer(w)
	w.TLS = webhooktest.Certificate(t, "hook.default.svc")
	w.StartTLS()
	t.Cleanup(w.Close)
	_, port, err := net.SplitHostPort(w.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.Certificate().Raw})
	s := defined(t, nil)
	define(t, s, routes(fmt.Sprintf(
		`{"service":{"namespace":"default","name":"hook","port":%s,"path":"/convert"},"caBundle":%q}`, port,
		base64.StdEncoding.EncodeToString(ca))))
	do(t, s, "POST", "/api/v1/namespaces/default/services",
		`{"metadata":{"name":"hook"},"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	do(t, s, "POST", v1widgets, widgetA)
	expect(t, s.Do("GET", v2widgets+"/a", nil), http.StatusOK, `"spec":{"host":"x","port":1}`)
}

// TestWebhookOutOfReach: the error names the webhook that can't be called, and the reason.
func TestWebhookOutOfReach(t *testing.T) {
	hook := startWebhook(t)
	closed := httptest.NewTLSServer(http.NotFoundHandler())
	closed.Close()
	for _, c := range []struct{ client, want string }{
		{fmt.Sprintf(`{"url":%q}`, hook.URL), `failed: Post \"` + hook.URL +
			`/?timeout=30s\": tls: failed to verify certificate: x509: certificate signed by unknown authority`},
		{fmt.Sprintf(`{"url":%q}`, closed.URL+"/c"), `failed: Post \"` + closed.URL + `/c?timeout=30s\": dial tcp `},
		{
			`{"service":{"namespace":"n","name":"s","path":"/c"}}`,
			`failed: Post \"https://s.n.svc:443/c?timeout=30s\": service \"s\" not found`,
		},
	} {
		s := defined(t, nil)
		define(t, s, routes(c.client))
		do(t, s, "POST", v1widgets, widgetA)
		for _, a := range []apiservertest.Answer{
			s.Do("GET", v2widgets+"/a", nil), s.Do("POST", v2widgets, widget("v2", "b", `"host":"y","port":2`)),
		} {
			expect(t, a, http.StatusInternalServerError, c.want)
		}
	}
}

// TestInitialEventsConverted: the initial events of a watch have what the webhook returns now, if the objects are
// stored in another version than the one that is stored today.
func TestInitialEventsConverted(t *testing.T) {
	s, hook := defined(t, nil), startWebhook(t)
	define(t, s, routes(hook.config()))
	do(t, s, "POST", v1widgets, widgetA)
	w := s.Watch(definitions + "?watch=1")
	move(t, s, "v2")
	reaches(t, w, "widgets.example.com", func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return slices.Contains(d.Status.StoredVersions, "v2")
	})
	for _, host := range []string{"first", "second"} {
		spoil := func(_ http.ResponseWriter, response map[string]any) bool {
			for _, o := range response["convertedObjects"].([]any) {
				o.(map[string]any)["spec"].(map[string]any)["host"] = host
			}
			return false
		}
		hook.spoil.Store(&spoil)
		expect(t, s.Do("GET", v2widgets+"/a", nil), http.StatusOK, `"host":"`+host+`"`)
		e, err := s.Watch(v2widgets + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&" +
			"resourceVersionMatch=NotOlderThan").Next()
		if is, _, _ := unstructured.NestedString(e.Object.Object, "spec", "host"); err != nil || is != host {
			t.Errorf("%s: watch %s, %v", host, is, err)
		}
	}
}
