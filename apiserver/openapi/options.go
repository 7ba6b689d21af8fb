package openapi

import (
	"reflect"
	"slices"
	"strings"

	"github.com/emicklei/go-restful/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prettyText is the description of the only parameter that is not a field of a type (AS pkg/endpoints/installer.go).
const prettyText = "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget)."

// queries has the query parameters of each verb's options.
type queries struct {
	get, list, create, update, patch, delete []*restful.Parameter
	// deleteCollection is list without the parameters of watches.
	deleteCollection []*restful.Parameter
}

func newQueries() *queries {
	return &queries{
		get:              queryParameters(metav1.GetOptions{}),
		list:             queryParameters(metav1.ListOptions{}),
		create:           queryParameters(metav1.CreateOptions{}),
		update:           queryParameters(metav1.UpdateOptions{}),
		patch:            queryParameters(metav1.PatchOptions{}),
		delete:           queryParameters(metav1.DeleteOptions{}),
		deleteCollection: queryParameters(metav1.ListOptions{}, "watch", "allowWatchBookmarks"),
	}
}

// queryParameters returns a parameter for each top-level scalar field of an options struct (AS
// pkg/endpoints/installer.go:AddObjectParams).
func queryParameters(options documented, without ...string) []*restful.Parameter {
	t := dereference(reflect.TypeOf(options))
	docs := options.SwaggerDoc()
	var list []*restful.Parameter
	for i := range t.NumField() {
		f := t.Field(i)
		name, typ := tagOf(f).name, queryType(f.Type)
		if name == "" || typ == "" || slices.Contains(without, name) {
			continue
		}
		list = append(list, restful.QueryParameter(name, docs[name]).DataType(typ))
	}
	return list
}

// queryType returns the type of a query parameter, or "" if a query can't have it. A list has the type of its items.
func queryType(t reflect.Type) string {
	t = dereference(t)
	switch t.Kind() {
	case reflect.Struct, reflect.Interface, reflect.Map:
		return ""
	case reflect.Slice:
		return queryType(t.Elem())
	}
	typ, _ := scalar(t)
	return typ
}

// article returns the noun with "a" or "an". A noun that looks like a plural gets none (AS
// pkg/endpoints/installer.go:GetArticleForNoun).
func article(noun string) string {
	if strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss") {
		return noun
	}
	if strings.ContainsRune("aeiouAEIOU", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
