package aggregator

import (
	"context"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/kube-openapi/pkg/aggregator"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// swagger is the part of an OpenAPI v2 document about a group version, and a hash of the document.
type swagger struct {
	sum      string
	document *spec.Swagger
}

// V3 returns the URLs of the OpenAPI v3 documents of other servers, by their paths in the index. It omits servers that
// have none or do not respond (KA pkg/controllers/openapiv3/aggregator).
func (a *Aggregator) V3() map[string]string {
	all, out := a.all(), map[string]string{}
	for i, url := range each(all, func(s *Service) string {
		url, _ := s.v3.get(a, openAPITimeout, func(ctx context.Context) (string, error) { // an error omits it
			data, err := a.document(ctx, s, "/openapi/v3")
			var index handler3.OpenAPIV3Discovery
			if err == nil {
				err = json.Unmarshal(data, &index)
			}
			return index.Paths[s.root()[1:]].ServerRelativeURL, err
		})
		return url
	}) {
		if url != "" {
			out[all[i].root()[1:]] = url
		}
	}
	return out
}

// V2 returns the parts of other servers' OpenAPI v2 documents about their group versions, and hashes of the documents
// (KA pkg/controllers/openapi/aggregator: updateServiceLocked).
func (a *Aggregator) V2() (sums []string, documents []*spec.Swagger) {
	for _, one := range each(a.all(), func(s *Service) swagger {
		one, _ := s.v2.get(a, openAPITimeout, func(ctx context.Context) (out swagger, err error) { // an error omits it
			data, err := a.document(ctx, s, "/openapi/v2")
			whole := &spec.Swagger{}
			if err == nil {
				err = whole.UnmarshalJSON(data)
			}
			if err != nil {
				return out, err
			}
			out.sum = fmt.Sprintf("%s %X", s.root(), sha512.Sum512(data))
			out.document = aggregator.FilterSpecByPathsWithoutSideEffects(whole, []string{s.root() + "/"})
			return out, nil
		})
		return one
	}) {
		if one.document != nil {
			sums, documents = append(sums, one.sum), append(documents, one.document)
		}
	}
	return sums, documents
}

// document reads a document in JSON.
func (a *Aggregator) document(ctx context.Context, s *Service, path string) ([]byte, error) {
	got, err := a.get(ctx, s, path, "application/json")
	if err == nil && got.code != http.StatusOK {
		err = fmt.Errorf("%s of %s has the status code %d", path, s.Name, got.code)
	}
	return got.body, err
}
