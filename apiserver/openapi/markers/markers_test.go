package markers

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write markers.txt")

// TestFresh: markers.txt is what `go generate` would write for the module versions in go.mod.
func TestFresh(t *testing.T) {
	want, err := extract()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("markers.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("markers.txt is stale, run go generate (-sources +file):\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	s, err := Parse(`# a comment
package example.com/a
enum Color ,dark red,green
type Shape mapType=atomic union=kind
 kind default="circle"
 circle member=Circle
 sides optional listType=map listMapKey=from listMapKey=to
package example.com/b
type Shape
 size required default={"x":1}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := Type{
		MapType: "atomic",
		Union:   &Union{Discriminator: "kind", Members: map[string]string{"circle": "Circle"}},
		Fields: map[string]Field{
			"kind":   {Default: "circle"},
			"circle": {},
			"sides":  {Presence: "optional", ListType: "map", ListMapKeys: []string{"from", "to"}},
		},
	}
	if diff := cmp.Diff(want, s.Type("example.com/a", "Shape")); diff != "" {
		t.Errorf("a.Shape (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"", "dark red", "green"}, s.Enum("example.com/a", "Color")); diff != "" {
		t.Errorf("a.Color (-want +got):\n%s", diff)
	}
	other := map[string]Field{"size": {Presence: "required", Default: map[string]any{"x": 1.}}}
	if diff := cmp.Diff(other, s.Type("example.com/b", "Shape").Fields); diff != "" {
		t.Errorf("b.Shape (-want +got):\n%s", diff)
	}
	if s.Enum("example.com/b", "Color") != nil || s.Type("example.com/b", "None").Fields != nil {
		t.Error("there are markers of what has none")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"type Shape",
		"package",
		"word example",
		"package a\nword b",
		"package a\n size optional",
		"package a\ntype Shape\npackage b\n size optional",
		"package a\ntype Shape color=red",
		"package a\ntype Shape\n size color=red",
		"package a\ntype Shape\n size default={",
		"package a\ntype Shape\n size member=Size",
	} {
		if _, err := Parse(text); err == nil {
			t.Errorf("parsed %q", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("package a\nenum Color red,green\ntype Shape union=kind\n size member=Size default=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse(text); (s == nil) == (err == nil) {
			t.Errorf("a set and an error, or neither, for %q", text)
		}
	})
}
