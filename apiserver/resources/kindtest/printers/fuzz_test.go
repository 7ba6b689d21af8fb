package printers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// FuzzCells: printing any object that can be decoded does not panic, and its row has a cell for each column. The seeds
// are the objects of testdata/cells, and an empty object of each kind.
func FuzzCells(f *testing.F) {
	for _, doc := range objects(f) {
		data, err := yaml.ToJSON([]byte("---\n" + doc))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for gk := range tables {
		version := "v1"
		if gk.Kind == "HorizontalPodAutoscaler" {
			version = "v2"
		}
		f.Add(fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q}`, gk.WithVersion(version).GroupVersion(), gk.Kind))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, gvk, err := decoder.Decode(data, nil, nil)
		if err != nil {
			return
		}
		table, ok := tables[gvk.GroupKind()]
		if !ok || !stored(*gvk) {
			return
		}
		if cells := table.Cells(obj, now); len(cells) < len(table.Columns) {
			t.Errorf("%d cells for %d columns", len(cells), len(table.Columns))
		}
		if table.Conditions != nil {
			table.Conditions(obj)
		}
	})
}

// stored reports whether objects of a kind are printed without a conversion.
func stored(gvk schema.GroupVersionKind) bool {
	switch {
	case gvk.Kind == "HorizontalPodAutoscaler":
		return gvk.Version == "v2"
	case gvk.Group == "events.k8s.io":
		return false
	}
	return gvk.Version == "v1"
}

func objects(f *testing.F) (docs []string) {
	f.Helper()
	paths, err := filepath.Glob("testdata/cells/*")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(data), "\n\n") {
			_, block, _ = strings.Cut("\n"+block, "\nrow")
			if in, _, ok := strings.Cut(block, "\n----\n"); ok {
				_, doc, _ := strings.Cut(in, "\n")
				docs = append(docs, doc)
			}
		}
	}
	return docs
}
