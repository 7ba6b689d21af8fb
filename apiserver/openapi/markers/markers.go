package markers

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed markers.json
var text []byte

// Set has the markers of all types, by package path and name as reflection returns them: "k8s.io/api/core/v1.Pod".
type Set struct {
	// Enums are the sorted values of string types.
	Enums map[string][]string
	Types map[string]Type
}

// Type has the markers of a struct and its fields.
type Type struct {
	// MapType is x-kubernetes-map-type: "atomic", "granular" or empty.
	MapType string `json:",omitempty"`
	// Union is nil if the struct is not a union.
	Union *Union `json:",omitempty"`
	// Fields are the fields by JSON name. Fields without markers are absent.
	Fields map[string]Field `json:",omitempty"`
}

// Union is a union: only one of its members may be set.
type Union struct {
	// Discriminator is the JSON name of the field that names the member in use. It is empty if there is none.
	Discriminator string
	// Members maps the JSON name of each member to the discriminator's value for it.
	Members map[string]string
}

// Field has the markers of a field.
type Field struct {
	// ListType is "atomic", "set", "map" or empty.
	ListType string `json:",omitempty"`
	// ListMapKeys are the JSON names of the keys of a list of type map, in order.
	ListMapKeys []string `json:",omitempty"`
	// MapType is "atomic", "granular" or empty.
	MapType string `json:",omitempty"`
	// Default is a JSON value as encoding/json decodes it, or nil.
	Default any `json:",omitempty"`
	// Presence is "optional" or "required" if that contradicts the json tag. Otherwise it is empty.
	Presence string `json:",omitempty"`
}

// Type returns the markers of the struct pkg.name, or the zero value if it has none.
func (s *Set) Type(pkg, name string) Type { return s.Types[pkg+"."+name] }

// Enum returns the sorted values that the string type pkg.name allows, or nil if it isn't an enum.
func (s *Set) Enum(pkg, name string) []string { return s.Enums[pkg+"."+name] }

// Load returns the markers. It panics if the file can't be decoded. Each test of documents decodes it.
var Load = sync.OnceValue(func() *Set {
	s := &Set{}
	if err := json.Unmarshal(text, s); err != nil {
		panic("markers.json: " + err.Error())
	}
	return s
})
