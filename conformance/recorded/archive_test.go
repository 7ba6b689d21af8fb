package recorded

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the archive")

// TestArchiveEqualsFiles: the archive in the binary has the files of the directories.
func TestArchiveEqualsFiles(t *testing.T) {
	files, err := Read(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 24 {
		t.Fatalf("%d files are recorded, want 24", len(files))
	}
	if *update {
		write(t, files)
		return
	}
	archived, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for path := range files {
		if diff := cmp.Diff(compact(t, files[path]), compact(t, archived[path])); diff != "" {
			t.Errorf("the archive is stale: go generate ./conformance/recorded; %s (-directory +archive):\n%s", path, diff)
		}
	}
	if len(archived) != len(files) {
		t.Errorf("the archive has %d files, the directories %d", len(archived), len(files))
	}
}

func compact(t *testing.T, file []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, file); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func write(t *testing.T, files map[string][]byte) {
	t.Helper()
	content := map[string]json.RawMessage{}
	for path, file := range files {
		content[path] = file
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("archive.json.gz", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
