package endpoints_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"

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

// TestProtobufEqualsJSON sends and reads some kinds in protobuf and compares them with JSON.
func TestProtobufEqualsJSON(t *testing.T) {
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
		a := must(t, s.Do("POST", c.path, enproto(t, c.obj), "Content-Type", mediaProtobuf, "Accept", mediaProtobuf),
			http.StatusCreated)
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

// TestLargeResponsesAreCompressed: large responses are compressed for clients on other machines that accept gzip.
func TestLargeResponsesAreCompressed(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Handler: apiservertest.Remote})
	for _, name := range []string{"a", "b"} {
		must(t, s.Do("POST", configmaps, configmap(name, map[string]string{"k": strings.Repeat("x", 200<<10)}, nil)),
			http.StatusCreated)
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
