package endpoints_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestScaleForms: a Scale is printed as kubectl get --subresource=scale shows it, its metadata can be requested alone,
// and it is no list.
func TestScaleForms(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const (
		crds        = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		replicasets = "/apis/apps/v1/namespaces/default/replicasets"
	)
	must(t, s.Do("POST", replicasets, `{"metadata":{"name":"r"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`), http.StatusCreated)
	must(t,
		s.Do("POST", crds, `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
		"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}}]}}`),
		http.StatusCreated)
	must(t, s.Do("PATCH", crds+
		"/things.example.com/status", `{"status":{"acceptedNames":{"plural":"things","kind":"Thing"},"storedVersions":["v1"],
		"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`, "Content-Type",
		"application/merge-patch+json"), http.StatusOK)
	things := "/apis/example.com/v1/namespaces/default/things"
	must(
		t,
		s.Do("POST", things, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"},"spec":{"replicas":2}}`),
		http.StatusCreated,
	)
	must(t, s.Do(
		"POST", things, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"zero"},"spec":{"replicas":0}}`,
	), http.StatusCreated)
	for path, want := range map[string]struct {
		formats []string
		cells   []any
	}{
		replicasets + "/r": {[]string{"", "", "", ""}, []any{"r", int64(3), int64(0), "0s"}},
		things + "/x":      {[]string{"name", "", "", ""}, []any{"x", int64(2), int64(0), "0s"}},
		things + "/zero":   {[]string{"name", "", "", ""}, []any{"zero", nil, int64(0), "0s"}},
	} {
		a := must(t, s.Do("GET", path+"/scale", nil, "Accept", asTable), http.StatusOK)
		var table metav1.Table
		if err := json.Unmarshal(a.Body, &table); err != nil || table.Kind != "Table" || len(table.Rows) != 1 ||
			table.ResourceVersion == "" {
			t.Fatalf("%s: %v %s", path, err, a.Body)
		}
		var names, formats []string
		for _, c := range table.ColumnDefinitions {
			names, formats = append(names, c.Name), append(formats, c.Format)
		}
		cells := table.Rows[0].Cells
		for i, c := range cells {
			if n, ok := c.(float64); ok {
				cells[i] = int64(n)
			}
		}
		cells[3] = "0s" // however old it is by now
		if d := cmp.Diff([]string{"Name", "Desired", "Available", "Age"}, names) + cmp.Diff(want.formats, formats) + cmp.Diff(
			want.cells, cells,
		); d != "" {
			t.Errorf("%s: %s", path, d)
		}
		var meta metav1.PartialObjectMetadata
		if err := json.Unmarshal(table.Rows[0].Object.Raw, &meta); err != nil || meta.Kind != "PartialObjectMetadata" ||
			meta.Name != want.cells[0] {
			t.Errorf("%s: %v %s", path, err, table.Rows[0].Object.Raw)
		}
		a = must(t, s.Do("GET", path+"/scale", nil, "Accept", asMetadata), http.StatusOK)
		if err := json.Unmarshal(a.Body, &meta); err != nil || meta.Kind != "PartialObjectMetadata" ||
			meta.Namespace != "default" || meta.UID == "" {
			t.Errorf("%s: %v %s", path, err, a.Body)
		}
		must(t, s.Do("GET", path+"/scale", nil, "Accept", asMetadatas), http.StatusNotAcceptable)
	}
}

// TestReviewForms: a review has the columns of kinds that have none of their own; a Status stays one.
func TestReviewForms(t *testing.T) {
	s := apiservertest.Start(t, nil)
	a := must(t, s.Do(
		"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		`{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`, "Accept", asTable,
	), http.StatusCreated)
	var table metav1.Table
	if err := json.Unmarshal(a.Body, &table); err != nil || len(table.ColumnDefinitions) != 2 ||
		table.ColumnDefinitions[1].Name != "Created At" {
		t.Errorf("%v %s", err, a.Body)
	}
	must(t, s.Do("POST", configmaps, configmap("c", nil, nil)), http.StatusCreated)
	if st := must(t, s.Do("DELETE", configmaps+"/c", nil, "Accept", asTable), http.StatusOK).
		Status(); st.Status != metav1.StatusSuccess {
		t.Errorf("%+v", st)
	}
}
