package recorded

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// archive is a compressed JSON object with the files by their paths: less than a tenth of their size in the binary.
//
//go:embed archive.json.gz
var archive []byte

// changes is the list of what later versions respond instead.
//
//go:embed changes.json
var changes []byte

// Changes returns the list of reviewed changes: what later versions of Kubernetes respond instead of what is recorded,
// each with its rule. It is that of another folder if one is named, empty without one there.
func Changes(folder string) []byte {
	if folder == "" {
		return changes
	}
	file, err := os.ReadFile(filepath.Join(folder, "changes.json"))
	if err != nil {
		return []byte("[]")
	}
	return file
}

// Files returns the recorded scenarios that are a part of the binary, by their paths.
func Files() (map[string][]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("opening the recorded answers: %w", err)
	}
	var content map[string]json.RawMessage
	if err := json.NewDecoder(r).Decode(&content); err != nil {
		return nil, fmt.Errorf("decoding the recorded answers: %w", err)
	}
	files := map[string][]byte{}
	for path, file := range content {
		files[path] = file
	}
	return files, nil
}

// Read returns the recorded scenarios of a directory like this package's.
func Read(folder fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, pattern := range []string{"scenarios/*.json", "owners/*.json"} {
		paths, err := fs.Glob(folder, pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if files[path], err = fs.ReadFile(folder, path); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}
