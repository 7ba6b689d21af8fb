package render_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/render"
)

// TestFirstOfferedFormIsChosen: the first clause, by weight, that names an offered form is chosen (0-16).
func TestFirstOfferedFormIsChosen(t *testing.T) {
	const meta = ";g=meta.k8s.io;v=v1"
	built, custom := render.Offer{Binary: true, Converted: true}, render.Offer{Converted: true}
	failure := render.Offer{Binary: true}
	none := render.Format{}
	jsonForm, binary := render.Format{Media: codec.MediaJSON}, render.Format{Media: codec.MediaProtobuf}
	table := render.Format{Media: codec.MediaJSON, As: "Table", Version: "v1"}
	for _, c := range []struct {
		offer  render.Offer
		accept string
		want   render.Format
	}{
		{built, "", jsonForm},
		{built, "*/*", jsonForm},
		{built, "application/*", jsonForm},
		{built, "*/json", none},
		{built, "application/yaml", render.Format{Media: codec.MediaYAML}},
		{built, codec.MediaProtobuf, binary},
		{built, codec.MediaProtobuf + ",application/json", binary},
		{built, "application/json;q=0.1," + codec.MediaProtobuf, binary},
		{built, "text/plain,application/json", jsonForm},
		{built, "text/plain", none},
		{built, "application/json;pretty=1", render.Format{Media: codec.MediaJSON, Pretty: true}},
		{built, "application/yaml;pretty=1", render.Format{Media: codec.MediaYAML}},
		{built, "application/json;charset=utf-8;unknown=1", jsonForm},
		{built, "application/json;stream=watch", jsonForm},
		{built, "application/yaml;stream=watch", none},
		{built, "application/json;stream=other", none},
		{built, "application/json;stream=", jsonForm},
		{built, "application/json;sv=v1", jsonForm},
		{built, "application/json;sv=v2", none},
		{failure, "application/json;sv=v1", none},
		{built, "application/json;as=Table" + meta, table},
		{built, "application/json;as=Table" + meta + ",application/json", table},
		{built, "application/json;as=Table;g=meta.k8s.io;v=v1beta1",
			render.Format{Media: codec.MediaJSON, As: "Table", Version: "v1beta1"}},
		{built, "application/json;as=Table;g=meta.k8s.io;v=v2", none},
		{built, "application/json;as=Table;g=other;v=v1", none},
		{built, "application/json;as=Pod" + meta, none},
		{built, "application/json;g=meta.k8s.io", none},
		{built, codec.MediaProtobuf + ";as=Table" + meta + ",application/json", jsonForm},
		{built, codec.MediaProtobuf + ";as=PartialObjectMetadataList" + meta,
			render.Format{Media: codec.MediaProtobuf, As: "PartialObjectMetadataList", Version: "v1"}},
		{custom, codec.MediaProtobuf, none},
		{custom, codec.MediaProtobuf + ",application/json", jsonForm},
		{custom, codec.MediaProtobuf + ";as=PartialObjectMetadata" + meta,
			render.Format{Media: codec.MediaProtobuf, As: "PartialObjectMetadata", Version: "v1"}},
		{failure, "application/json;as=Table" + meta, none},
		{failure, "application/json;as=Table" + meta + ",application/json", jsonForm},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", c.accept)
		got, err := c.offer.Negotiate(r, r.URL.Query())
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != (c.want == none) {
			t.Errorf("%+v of %s: %v (-want +got)\n%s", c.offer, c.accept, err, diff)
		}
	}
}

// TestPrettyParameterPrecedesClientsName: without the parameter, the name decides. Only JSON is indented.
func TestPrettyParameterPrecedesClientsName(t *testing.T) {
	for _, c := range []struct {
		query, agent, accept string
		want                 bool
	}{
		{"", "kubectl/v1", "", false}, {"", "curl/8", "", true}, {"", "curl/8", "application/json", true},
		{"", "curl/8", "application/yaml", false},
		{"?pretty=0", "curl/8", "", false}, {"?pretty=true", "x", "", true}, {"?pretty=x", "curl/8", "", false},
		{"", "x", "application/json;pretty=1", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/"+c.query, nil)
		r.Header.Set("User-Agent", c.agent)
		r.Header.Set("Accept", c.accept)
		if got, err := (render.Offer{}).Negotiate(r, r.URL.Query()); err != nil || got.Pretty != c.want {
			t.Errorf("%+v: %v, %v", c, got.Pretty, err)
		}
	}
}
