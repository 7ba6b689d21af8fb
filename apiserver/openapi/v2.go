package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/builder"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// encodeV2 encodes the document of v2 piece by piece, because the schemas of all custom resources take ten times the
// memory of the document.
func encodeV2(base *builtin, parts []part, others []*spec.Swagger, protobuf bool) ([]byte, error) {
	if protobuf {
		return protobufV2(base, parts, others)
	}
	var head []byte
	var paths, definitions, parameters members
	for s, err := range pieces(base, parts, others) {
		if err == nil && head == nil {
			head, err = json.Marshal(map[string]any{
				"swagger": s.Swagger, "info": s.Info, "security": s.Security, "securityDefinitions": s.SecurityDefinitions,
			})
		}
		if err == nil {
			err = errors.Join(add(&paths, s.Paths.Paths), add(&definitions, s.Definitions), add(&parameters, s.Parameters))
		}
		if err != nil {
			return nil, err
		}
	}
	return slices.Concat(
		head[:len(head)-1], []byte(`,"paths":{`), paths.Bytes(), []byte(`},"definitions":{`), definitions.Bytes(),
		[]byte(`},"parameters":{`), parameters.Bytes(), []byte("}}"),
	), nil
}

// protobufV2 concatenates the encoded pieces, which merges their messages in protobuf.
func protobufV2(base *builtin, parts []part, others []*spec.Swagger) (out []byte, err error) {
	for s, err := range pieces(base, parts, others) {
		if err != nil {
			return nil, err
		}
		data, err := s.MarshalJSON()
		if err != nil {
			return nil, err
		}
		message, err := openapiv2.ParseDocument(data)
		if err != nil {
			return nil, fmt.Errorf("encoding a document as protobuf: %w", err)
		}
		if out, err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(out, message); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pieces yields parts of the document of v2 that have no path, definition or parameter in common: first that of all
// built-in types, then one for the custom resources of each group version, and last those of other servers. The first
// definition of a name stays (KO pkg/aggregator renames definitions that differ).
func pieces(base *builtin, parts []part, others []*spec.Swagger) iter.Seq2[*spec.Swagger, error] {
	lists := [][]part{nil}
	for _, p := range parts {
		if p.builtin || len(p.types) == 0 {
			lists[0] = append(lists[0], p)
		} else {
			lists = append(lists, []part{p})
		}
	}
	return func(yield func(*spec.Swagger, error) bool) {
		paths, definitions, parameters := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for i := range len(lists) + len(others) {
			var s *spec.Swagger
			var err error
			if i < len(lists) {
				s, err = buildV2(base, lists[i])
			} else {
				s = addition(base, others[i-len(lists)])
			}
			if err == nil {
				dropSeen(paths, s.Paths.Paths)
				dropSeen(definitions, s.Definitions)
				dropSeen(parameters, s.Parameters)
				if i > 0 {
					s.Security, s.SecurityDefinitions = nil, nil
				}
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// addition copies the parts of another server's document that are added. The maps of the copy may be changed.
func addition(base *builtin, s *spec.Swagger) *spec.Swagger {
	out := &spec.Swagger{}
	out.Swagger, out.Info = "2.0", info(base.version)
	out.Paths, out.Definitions, out.Parameters = &spec.Paths{}, maps.Clone(s.Definitions), maps.Clone(s.Parameters)
	if s.Paths != nil {
		out.Paths.Paths = maps.Clone(s.Paths.Paths)
	}
	return out
}

// dropSeen removes the members whose names were seen before.
func dropSeen[T any](seen map[string]bool, m map[string]T) {
	maps.DeleteFunc(m, func(name string, _ T) bool {
		was := seen[name]
		seen[name] = true
		return was
	})
}

// members are the members of a JSON object without its braces.
type members struct{ bytes.Buffer }

func add[T json.Marshaler](to *members, all map[string]T) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		value, err := all[name].MarshalJSON()
		if err != nil {
			return err
		}
		if to.Len() > 0 {
			to.WriteByte(',')
		}
		to.Write(key)
		to.WriteByte(':')
		to.Write(value)
	}
	return nil
}

// buildV2 builds a document of v2 from parts.
func buildV2(base *builtin, list []part) (*spec.Swagger, error) {
	o, k := collect(v2, list...), base.kinds
	for i := range list {
		k = k.and(list[i].types)
	}
	document, err := builder.BuildOpenAPISpecFromRoutes([]common.RouteContainer{o.routes}, &common.Config{
		ProtocolList:    []string{"https"},
		Info:            info(base.version),
		CommonResponses: map[int]spec.Response{401: {ResponseProps: spec.ResponseProps{Description: "Unauthorized"}}},
		SecurityDefinitions: &spec.SecurityDefinitions{"BearerToken": {SecuritySchemeProps: spec.SecuritySchemeProps{
			Type: "apiKey", Name: "authorization", In: "header", Description: "Bearer Token authentication",
		}}},
		DefaultSecurity: []map[string][]string{{"BearerToken": {}}},
		GetDefinitions: func(common.ReferenceCallback) map[string]common.OpenAPIDefinition {
			return o.definitions.schemas
		},
		GetDefinitionName:              func(name string) (string, spec.Extensions) { return name, k.extensions(name) },
		GetOperationIDAndTagsFromRoute: identify,
	})
	if err != nil {
		return nil, fmt.Errorf("building the document of v2: %w", err)
	}
	return document, nil
}
