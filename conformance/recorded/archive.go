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

// archive is a compressed JSON object of the files, with their paths as keys. It takes less than a tenth of their size.
//
//go:embed archive.json.gz
var archive []byte

// changes is the list that Changes returns.
//
//go:embed changes.json
var changes []byte

// Changes returns the reviewed list of responses of later versions of Kubernetes that differ from the recorded ones.
// Each has its rule. If folder is not empty, Changes reads the list in that folder, and returns nothing if there is
// none.
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

// Files returns the recorded scenarios in the binary, with their paths as keys.
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

// Read returns the recorded scenarios of a directory that has the layout of this package's directory.
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
