package endpoints_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestPartialObjectsEqualEncodedOnes: a response with only metadata, which is copied from the stored bytes, equals the
// encoding of its Go type.
func TestPartialObjectsEqualEncodedOnes(t *testing.T) {
	s := apiservertest.Start(t, nil)
	odd := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"l":""},"annotations":{"odd":"<&>\u2028\"\\metadata\": {\t<é𝄞"},"finalizers":["example.com/a"],
			"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u","controller":false}]}`, name)
	}
	const hpas = "/namespaces/default/horizontalpodautoscalers"
	for _, c := range []struct{ make, show, rest string }{
		{configmaps, configmaps, `,"data":{"metadata":"{"}}`},
		{"/api/v1/namespaces/default/secrets", "/api/v1/namespaces/default/secrets", `}`},
		{
			"/apis/autoscaling/v2" + hpas, "/apis/autoscaling/v1" + hpas,
			`,"spec":{"maxReplicas":1,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"x","name":"y"}}}`,
		},
	} {
		for _, name := range []string{"a", "b"} {
			must(t, s.Do("POST", c.make, odd(name)+c.rest), http.StatusCreated)
			must(t, s.Do("PATCH", c.make+"/"+name, `{"metadata":{"annotations":{"and":"more"}}}`), http.StatusOK)
		}
		must(t, s.Do("DELETE", c.make+"/b", nil), http.StatusOK) // it has a finalizer
		var whole, list metav1.PartialObjectMetadataList
		read(t, must(t, s.Do("GET", c.show, nil), http.StatusOK).Body, &whole)
		asEncoded(t, must(t, s.Do("GET", c.show, nil, "Accept", asMetadatas), http.StatusOK).Body, &list)
		if diff := cmp.Diff([]string{"PartialObjectMetadataList", "meta.k8s.io/v1", whole.ResourceVersion},
			[]string{list.Kind, list.APIVersion, list.ResourceVersion}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.show, diff)
		}
		for i := range whole.Items {
			whole.Items[i].TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}
			var one metav1.PartialObjectMetadata
			asEncoded(
				t, must(t, s.Do("GET", c.show+"/"+whole.Items[i].Name, nil, "Accept", asMetadata), http.StatusOK).Body, &one,
			)
			if diff := cmp.Diff(whole.Items[i], one); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.show, diff)
			}
		}
		if diff := cmp.Diff(whole.Items, list.Items); len(list.Items) != 2 || diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.show, diff)
		}
		var table metav1.Table
		read(t, must(t, s.Do("GET", c.show, nil, "Accept", asTable), http.StatusOK).Body, &table)
		for i, row := range table.Rows {
			var one metav1.PartialObjectMetadata
			asEncoded(t, row.Object.Raw, &one)
			if diff := cmp.Diff(whole.Items[i], one); diff != "" {
				t.Errorf("%s, row %d (-want +got):\n%s", c.show, i, diff)
			}
		}
		w := s.Watch(c.show+"?watch=1&fieldSelector=metadata.name%3Da", "Accept", asMetadata)
		if e := next(t, w); e.Object.GetKind() != "PartialObjectMetadata" || e.Object.GetUID() != whole.Items[0].UID ||
			e.Object.Object["data"] != nil {
			t.Errorf("%s: %s %v", c.show, e.Type, e.Object)
		}
	}
	var none metav1.PartialObjectMetadataList
	asEncoded(
		t, must(t, s.Do("GET", configmaps+"?labelSelector=none", nil, "Accept", asMetadatas), http.StatusOK).Body, &none,
	)
	if none.Items == nil || len(none.Items) > 0 {
		t.Errorf("of nothing: %v", none.Items)
	}
}

func read(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%v of %s", err, data)
	}
}

// asEncoded decodes a response, which must have the bytes of its encoding.
func asEncoded(t *testing.T, data []byte, into any) {
	t.Helper()
	read(t, data, into)
	again, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	if data[len(data)-1] == '\n' {
		again = append(again, '\n')
	}
	if diff := cmp.Diff(string(again), string(data)); diff != "" {
		t.Errorf("(-encoded +sent):\n%s", diff)
	}
}
