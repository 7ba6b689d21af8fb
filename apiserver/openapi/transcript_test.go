package openapi

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The files in testdata are outputs of this package, recorded with -rewrite and then reviewed, so that a change of the
// documents is a visible diff. TestDocumentsHaveTranscribedFacts and the comparisons with generated schemas and served
// operations check the compatibility with Kubernetes.
//
//	schema document=<path>        a schema's name; answers with everything but descriptions
//	description document=<path>   name and property; answers with the text
//	operation document=<path>     method and path; answers with ID, kind, parameters and bodies
func TestTranscripts(t *testing.T) {
	s := New("v1.37.2", withCustom)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var name string
			d.ScanArgs(t, "document", &name)
			url := "/openapi/v3/" + name
			if name == "v2" {
				url = "/openapi/v2"
			}
			var document fields
			if err := json.Unmarshal(get(t, s, url).body, &document); err != nil {
				return err.Error()
			}
			input := strings.Fields(d.Input)
			switch d.Cmd {
			case "schema":
				return shape(schemaIn(document, input[0]))
			case "description":
				text, _ := schemaIn(document, input[0])["properties"].(fields)[input[1]].(fields)["description"].(string)
				return text
			case "operation":
				return operation(document["paths"].(fields)[input[1]].(fields), input[0])
			}
			return "unknown command"
		})
	})
}

func schemaIn(document fields, name string) fields {
	if all, ok := document["definitions"].(fields); ok {
		return all[name].(fields)
	}
	return document["components"].(fields)["schemas"].(fields)[name].(fields)
}

// shape prints one line for the schema itself and one for each property.
func shape(schema fields) string {
	var b strings.Builder
	properties, _ := schema["properties"].(fields)
	whole := fields{}
	for key, value := range schema {
		if key != "properties" && key != "description" {
			whole[key] = value
		}
	}
	b.WriteString(compact(whole) + "\n")
	for _, name := range sortedKeys(properties) {
		property := properties[name].(fields)
		delete(property, "description")
		b.WriteString(name + " " + compact(property) + "\n")
	}
	return b.String()
}

func operation(item fields, method string) string {
	o := item[method].(fields)
	var b strings.Builder
	for _, key := range []string{"operationId", "description", "tags", "x-kubernetes-action", extensionKind} {
		b.WriteString(key + " " + compact(o[key]) + "\n")
	}
	names := []string{}
	for _, list := range []any{item["parameters"], o["parameters"]} {
		parameters, _ := list.([]any)
		for _, p := range parameters {
			name, _ := p.(fields)["name"].(string)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	b.WriteString("parameters " + strings.Join(names, " ") + "\n")
	b.WriteString("body " + compact(bodies(o["requestBody"])) + "\n")
	responses := o["responses"].(fields)
	for _, code := range sortedKeys(responses) {
		b.WriteString(code + " " + compact(bodies(responses[code])) + "\n")
	}
	return b.String()
}

// bodies abbreviates a body to its media types and the name of their common schema.
func bodies(v any) any {
	body, _ := v.(fields)
	content, _ := body["content"].(fields)
	short := fields{}
	for kind, media := range content {
		ref, _ := media.(fields)["schema"].(fields)["$ref"].(string)
		short[kind] = ref[strings.LastIndex(ref, ".")+1:]
	}
	return short
}

func compact(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func sortedKeys(m fields) []string {
	keys := []string{}
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
