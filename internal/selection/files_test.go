package selection

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesAreReadInKubectlsWays reads a tree of files in the ways in which --filename chooses them.
func TestFilesAreReadInKubectlsWays(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"a.yaml": "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n# nothing\n---\nnull\n",
		"b.json": `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"BList","items":[
			{"metadata":{"name":"b","namespace":"n"}}]}]}`,
		"c.txt":      "apiVersion: v1\nkind: C\nmetadata: {name: c}\n",
		"deep/d.yml": "apiVersion: v1\nkind: D\nmetadata: {name: d}\n",
		"empty.yml":  "---\n", "untyped.txt": "metadata: {name: x}", "array.txt": "[]", "field.txt": "kind: {}",
		"item.txt": `{"apiVersion":"v1","kind":"List","items":[{"metadata":{"name":"x"}}]}`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		names     string
		recursive bool
		want      string
		err       error
	}{
		{names: "a.yaml b.json", want: "A/a B/n/b"},
		{names: ".", want: "A/a B/n/b"},
		{names: ".", recursive: true, want: "A/a B/n/b D/d"},
		{names: "deep", want: "D/d"},
		{names: "[ac].*", want: "A/a C/c"},
		{names: "- c.txt", want: "S/s C/c"},
		{names: "empty.yml", err: errNothing},
		{names: "nope", err: fs.ErrNotExist},
		{names: "https://example.com/a.yaml", err: errURL},
		{names: "untyped.txt", err: errNoObject}, {names: "array.txt", err: errNoObject},
		{names: "field.txt", err: errNoObject},
		{names: "item.txt", err: errNoObject},
	} {
		l := &Line{Files: strings.Fields(c.names), Recursive: c.recursive}
		all, err := l.read(strings.NewReader("apiVersion: v1\nkind: S\nmetadata: {name: s}\n"))
		var got []string
		for _, o := range all {
			if o.APIVersion != "v1" || o.From == "" {
				t.Errorf("%s: %+v", c.names, o)
			}
			got = append(got, strings.ReplaceAll(o.Kind+"/"+o.Namespace+"/"+o.Name, "//", "/"))
		}
		if strings.Join(got, " ") != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q %v, expected %q %v", c.names, got, err, c.want, c.err)
		}
	}
}
