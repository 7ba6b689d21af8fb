package endpoints_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

const (
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
	asTable       = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asMetadata    = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	asMetadatas   = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
)

// unproto decodes a protobuf body as clients do.
func unproto(t *testing.T, data []byte) runtime.Object {
	t.Helper()
	scheme := resources.Scheme()
	obj, err := runtime.Decode(protobuf.NewSerializer(scheme, scheme), data)
	if err != nil {
		t.Fatalf("decoding protobuf: %v", err)
	}
	return obj
}

func enproto(t *testing.T, obj runtime.Object) []byte {
	t.Helper()
	scheme := resources.Scheme()
	data, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), obj)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestProtobuf sends and reads some kinds in protobuf and compares them with JSON.
func TestProtobuf(t *testing.T) {
	s := apiservertest.Start(t, nil)
	labels := map[string]string{"a": "b"}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	for _, c := range []struct {
		path string
		obj  runtime.Object
		list runtime.Object
	}{
		{configmaps, &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "x"},
			Data: map[string]string{"k": "v"},
		}, &corev1.ConfigMapList{}},
		{"/api/v1/namespaces/default/pods", &corev1.Pod{
			TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "x"},
			Spec: template.Spec,
		}, &corev1.PodList{}},
		{"/apis/apps/v1/namespaces/default/deployments", &appsv1.Deployment{TypeMeta: metav1.TypeMeta{
			Kind: "Deployment", APIVersion: "apps/v1",
		}, ObjectMeta: metav1.ObjectMeta{Name: "x"},
			Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}},
			&appsv1.DeploymentList{}},
	} {
		start := must(t, s.Do("GET", c.path, nil), http.StatusOK).List().GetResourceVersion()
		a := must(
			t, s.Do("POST", c.path, enproto(t, c.obj), "Content-Type", mediaProtobuf, "Accept", mediaProtobuf),
			http.StatusCreated,
		)
		if got := a.Header.Get("Content-Type"); got != mediaProtobuf {
			t.Errorf("%s: Content-Type %s", c.path, got)
		}
		// JSON of the same object, decoded into the same type.
		want := c.obj.DeepCopyObject()
		if err := json.Unmarshal(must(t, s.Do("GET", c.path+"/x", nil), http.StatusOK).Body, want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, unproto(t, a.Body)); diff != "" {
			t.Errorf("%s created (-JSON +protobuf):\n%s", c.path, diff)
		}
		if diff := cmp.Diff(
			want, unproto(t, must(t, s.Do("GET", c.path+"/x", nil, "Accept", mediaProtobuf), http.StatusOK).Body),
		); diff != "" {
			t.Errorf("%s read (-JSON +protobuf):\n%s", c.path, diff)
		}
		if err := json.Unmarshal(must(t, s.Do("GET", c.path, nil), http.StatusOK).Body, c.list); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(
			c.list, unproto(t, must(t, s.Do("GET", c.path, nil, "Accept", mediaProtobuf), http.StatusOK).Body),
		); diff != "" {
			t.Errorf("%s listed (-JSON +protobuf):\n%s", c.path, diff)
		}
		typ, obj := firstFrame(t, s, c.path+"?watch=1&resourceVersion="+start)
		if diff := cmp.Diff(want, obj); typ != "ADDED" || diff != "" {
			t.Errorf("%s watched: %s (-JSON +protobuf):\n%s", c.path, typ, diff)
		}
	}
	st, ok := unproto(t, s.Do("GET", configmaps+"/none", nil, "Accept", mediaProtobuf).Body).(*metav1.Status)
	if !ok || st.Code != http.StatusNotFound {
		t.Errorf("status %v", st)
	}
}

// firstFrame reads the first event of a watch in protobuf.
func firstFrame(t *testing.T, s *apiservertest.Server, path string) (string, runtime.Object) {
	t.Helper()
	w := s.Watch(path, "Accept", mediaProtobuf+";stream=watch")
	defer w.Close()
	if got := w.Header.Get("Content-Type"); got != mediaProtobuf+";stream=watch" {
		t.Fatalf("watch in %s", got)
	}
	scheme := resources.Scheme()
	frames := protobuf.LengthDelimitedFramer.NewFrameReader(io.NopCloser(w.Body()))
	var e metav1.WatchEvent
	if _, _, err := streaming.NewDecoder(frames, protobuf.NewRawSerializer(scheme, scheme)).Decode(nil, &e); err != nil {
		t.Fatalf("decoding a frame: %v", err)
	}
	return e.Type, unproto(t, e.Object.Raw)
}

// TestTables in get, list and watch.
func TestTables(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 2)
	var one, all, event metav1.Table
	table := func(data []byte, into *metav1.Table) {
		t.Helper()
		if err := json.Unmarshal(data, into); err != nil || into.Kind != "Table" || into.APIVersion != "meta.k8s.io/v1" {
			t.Fatalf("no table: %s", data)
		}
	}
	table(must(t, s.Do("GET", configmaps+"/m00", nil, "Accept", asTable), http.StatusOK).Body, &one)
	table(must(t, s.Do("GET", configmaps, nil, "Accept", asTable+",application/json"), http.StatusOK).Body, &all)
	if len(one.Rows) != 1 || len(all.Rows) != 2 || len(all.ColumnDefinitions) != 3 || all.ResourceVersion == "" ||
		all.Rows[1].Cells[0] != "m01" {
		t.Errorf("one %v\nall %v", one, all)
	}
	w := s.Watch(configmaps+"?watch=1", "Accept", asTable)
	for i := range 2 {
		data, _ := json.Marshal(next(t, w).Object)
		event = metav1.Table{}
		table(data, &event)
		if len(event.Rows) != 1 || (len(event.ColumnDefinitions) > 0) != (i == 0) {
			t.Errorf("event %d: %s", i, data)
		}
	}
	for include, want := range map[string]string{
		"": "PartialObjectMetadata", "Metadata": "PartialObjectMetadata", "Object": "ConfigMap", "None": "",
	} {
		var got metav1.Table
		table(
			must(t, s.Do("GET", configmaps+"/m00?includeObject="+include, nil, "Accept", asTable), http.StatusOK).Body, &got,
		)
		var meta metav1.PartialObjectMetadata
		_ = json.Unmarshal(got.Rows[0].Object.Raw, &meta) // nothing for None
		if meta.Kind != want {
			t.Errorf("includeObject=%s: %s", include, got.Rows[0].Object.Raw)
		}
	}
	must(t, s.Do("GET", configmaps+"/m00?includeObject=x", nil, "Accept", asTable), http.StatusBadRequest)
}

// TestDefaultInTables: V-104. A list shows which StorageClass is the default; a single object and an event don't.
func TestDefaultInTables(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const classes = "/apis/storage.k8s.io/v1/storageclasses"
	for _, name := range []string{"b", "a"} {
		must(t, s.Do("POST", classes, `{"metadata":{"name":"`+name+`","annotations":{`+
			`"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p"}`), http.StatusCreated)
	}
	cells := func(data []byte) (names []any) {
		t.Helper()
		var table metav1.Table
		read(t, data, &table)
		for _, r := range table.Rows {
			names = append(names, r.Cells[0])
		}
		return names
	}
	want := []any{"a (default)", "b"} // a is not older than b
	if got := cells(must(t, s.Do("GET", classes, nil, "Accept", asTable), http.StatusOK).Body); !slices.Equal(got, want) {
		t.Errorf("list: %v", got)
	}
	if got := cells(must(t, s.Do("GET", classes+"/a", nil, "Accept", asTable), http.StatusOK).Body); got[0] != "a" {
		t.Errorf("one: %v", got)
	}
	w := s.Watch(classes+"?watch=1", "Accept", asTable)
	data, _ := json.Marshal(next(t, w).Object)
	if got := cells(data); got[0] != "a" {
		t.Errorf("event: %v", got)
	}
}

// TestMetadataForms are PartialObjectMetadata in get, list and watch, and in protobuf.
func TestMetadataForms(t *testing.T) {
	s := apiservertest.Start(t, nil)
	must(
		t, s.Do("POST", configmaps, configmap("a", map[string]string{"secret": "x"}, map[string]string{"l": "1"})),
		http.StatusCreated,
	)
	check := func(what, kind string, data []byte) {
		t.Helper()
		var m struct {
			metav1.TypeMeta
			Metadata struct{ Name string }
			Items    []struct {
				metav1.TypeMeta
				Metadata struct{ Name string }
			}
		}
		if err := json.Unmarshal(data, &m); err != nil || m.Kind != kind || m.APIVersion != "meta.k8s.io/v1" ||
			bytes.Contains(data, []byte("secret\":\"x")) {
			t.Errorf("%s: %s", what, data)
		}
		if kind == "PartialObjectMetadata" && m.Metadata.Name != "a" ||
			kind != "PartialObjectMetadata" && (len(m.Items) != 1 || m.Items[0].Kind != "PartialObjectMetadata") {
			t.Errorf("%s: %s", what, data)
		}
	}
	check(
		"get", "PartialObjectMetadata", must(t, s.Do("GET", configmaps+"/a", nil, "Accept", asMetadata), http.StatusOK).Body,
	)
	check(
		"list", "PartialObjectMetadataList", must(t, s.Do("GET", configmaps, nil, "Accept", asMetadatas), http.StatusOK).Body,
	)
	data, _ := json.Marshal(next(t, s.Watch(configmaps+"?watch=1", "Accept", asMetadata)).Object)
	check("watch", "PartialObjectMetadata", data)
	binary := strings.Replace(asMetadatas, "application/json", mediaProtobuf, 1)
	l, ok := unproto(t, must(t, s.Do("GET", configmaps, nil, "Accept", binary), http.StatusOK).
		Body).(*metav1.PartialObjectMetadataList)
	if !ok || len(l.Items) != 1 || l.Items[0].Labels["l"] != "1" {
		t.Errorf("protobuf: %v", l)
	}
}

// TestYAML in and out.
func TestYAML(t *testing.T) {
	s := apiservertest.Start(t, nil)
	doc := "# a comment\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: &l {x: \"1\"}\n  annotations: *l\ndata:\n  text: |\n    two\n    lines\n"
	a := must(
		t, s.Do("POST", configmaps, doc, "Content-Type", "application/yaml", "Accept", "application/yaml"),
		http.StatusCreated,
	)
	var got, list map[string]any
	if err := yaml.Unmarshal(a.Body, &got); err != nil {
		t.Fatal(err)
	}
	want := must(t, s.Do("GET", configmaps+"/a", nil), http.StatusOK).Object()
	if want.GetAnnotations()["x"] != "1" || !same(got, want.Object) {
		t.Errorf("YAML %s\nJSON %v", a.Body, want)
	}
	if err := yaml.Unmarshal(must(t, s.Do("GET", configmaps, nil, "Accept", "application/yaml"), http.StatusOK).
		Body, &list); err != nil || list["kind"] != "ConfigMapList" {
		t.Errorf("list %v: %v", list, err)
	}
	a = must(t, s.Do("GET", configmaps+"/none", nil, "Accept", "application/yaml"), http.StatusNotFound)
	if !strings.Contains(string(a.Body), "\nkind: Status\n") {
		t.Errorf("status %s", a.Body)
	}
}

// TestPretty: JSON is indented if the query requests it, or for certain user agents.
func TestPretty(t *testing.T) {
	s := apiservertest.Start(t, nil)
	fill(t, s, 1)
	for _, c := range []struct {
		query  string
		header []string
		pretty bool
	}{
		{"", nil, false},
		{"?pretty=true", nil, true},
		{"?pretty=1", []string{"User-Agent", "kubectl/v1"}, true},
		{"", []string{"User-Agent", "curl/8"}, true},
		{"?pretty=false", []string{"User-Agent", "curl/8"}, false},
		{"", []string{"Accept", "application/json;pretty=1"}, true},
	} {
		for _, path := range []string{configmaps, configmaps + "/m00", configmaps + "/none"} {
			a := s.Do("GET", path+c.query, nil, c.header...)
			if got := strings.Contains(string(a.Body), "{\n  \"kind\": "); got != c.pretty || !json.Valid(a.Body) ||
				a.Body[len(a.Body)-1] != '\n' {
				t.Errorf("%s%s %v: %s", path, c.query, c.header, a.Body)
			}
		}
	}
}

// TestGzip: large responses are compressed for clients that accept gzip, on other machines.
func TestGzip(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Handler: apiservertest.Remote})
	for _, name := range []string{"a", "b"} {
		must(
			t, s.Do("POST", configmaps, configmap(name, map[string]string{"k": strings.Repeat("x", 200<<10)}, nil)),
			http.StatusCreated,
		)
	}
	must(t, s.Do("POST", configmaps, configmap("small", nil, nil)), http.StatusCreated)
	for _, c := range []struct {
		path, encoding, accept string
		zipped                 bool
	}{
		{configmaps, "gzip", "", true},
		{configmaps, "deflate, gzip", "", true},
		{configmaps, "gzip", mediaProtobuf, true},
		{configmaps + "?pretty=1", "gzip", "", true},
		{configmaps, "gzip;q=0", "", false},
		{configmaps, "identity", "", false},
		{configmaps + "/a", "gzip", "", true},
		{configmaps + "/small", "gzip", "", false},
		{configmaps, "gzip", asMetadatas, false},
	} {
		plain := must(t, s.Do("GET", c.path, nil, "Accept", c.accept, "Accept-Encoding", "identity"), http.StatusOK)
		a := must(t, s.Do("GET", c.path, nil, "Accept", c.accept, "Accept-Encoding", c.encoding), http.StatusOK)
		body := a.Body
		if (a.Header.Get("Content-Encoding") == "gzip") != c.zipped {
			t.Errorf("%s %s %s: encoding %q", c.path, c.encoding, c.accept, a.Header.Get("Content-Encoding"))
			continue
		}
		if c.zipped {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Errorf("%s: %v", c.path, err)
			}
		}
		if !bytes.Equal(body, plain.Body) {
			t.Errorf("%s %s %s: the bodies differ", c.path, c.encoding, c.accept)
		}
	}
}
