package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// manifests are the values of --filename and --recursive, which mean what they do in kubectl, but for URLs.
type manifests struct {
	names     []string
	recursive bool
}

// declared is an object as a file declares it; file is its name.
type declared struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct{ Name, Namespace string } `json:"metadata"`
	Items           *[]json.RawMessage               `json:"items"`

	file string
}

// errNoObjects: files have none.
var errNoObjects = errors.New("no objects")

// read returns the objects of all files. Those of lists are returned instead of the lists.
func (m *manifests) read(stdin io.Reader) (all []declared, err error) {
	for _, name := range m.names {
		found, err := m.readOne(name, stdin)
		if err != nil {
			return nil, errUsage{err}
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, errUsage{fmt.Errorf("%s: %w", strings.Join(m.names, ", "), errNoObjects)}
	}
	return all, nil
}

// readOne returns the objects of a value of --filename: a file, a directory, a pattern, or standard input.
func (m *manifests) readOne(name string, stdin io.Reader) (all []declared, err error) {
	switch {
	case name == "-":
		return decodeAll("standard input", stdin)
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return nil, fmt.Errorf("%s: URLs are not supported: fetch the file, and give its content to --filename -", name)
	}
	paths := []string{name}
	if _, err := os.Stat(name); err != nil { // kubectl takes it for a pattern then
		if found, wrong := filepath.Glob(name); wrong != nil || len(found) == 0 {
			return nil, err
		} else {
			paths = found
		}
	}
	for _, p := range paths {
		files, err := m.files(p)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			found, err := decodeFile(file)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// extensions are those of the files that are read in a directory
// (K cli-runtime/pkg/resource/builder.go: FileExtensions).
var extensions = []string{".json", ".yaml", ".yml"}

// files are the file at the path, or those of the directory, with its own directories if --recursive is set.
func (m *manifests) files(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				files = append(files, path)
			}
		case e.IsDir() && !m.recursive:
			return fs.SkipDir
		case !e.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

func decodeFile(path string) ([]declared, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decodeAll(path, f)
}

// decodeAll returns the objects of all documents of a file.
func decodeAll(file string, content io.Reader) (all []declared, err error) {
	for d := yaml.NewYAMLOrJSONDecoder(content, 4096); ; {
		var o *declared
		switch err := d.Decode(&o); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case o == nil: // an empty document
			continue
		}
		o.file = file
		if all, err = o.flatten(all); err != nil {
			return nil, err
		}
	}
}

// flatten appends the object, or those of a list. Items without a kind are of the list's kind without "List"
// (AM pkg/apis/meta/v1/unstructured/helpers.go: decodeToList).
func (o *declared) flatten(all []declared) (_ []declared, err error) {
	if o.Items == nil {
		switch {
		case o.Kind == "":
			return nil, fmt.Errorf("%s: an object has no kind", o.file)
		case o.Metadata.Name == "":
			return nil, fmt.Errorf("%s: a %s has no name", o.file, o.Kind)
		}
		return append(all, *o), nil
	}
	for _, raw := range *o.Items {
		item := declared{file: o.file}
		if err := json.Unmarshal(raw, &item); err != nil {
			return nil, fmt.Errorf("%s: an item of the list: %w", o.file, err)
		}
		if kind, ok := strings.CutSuffix(o.Kind, "List"); ok && item.Kind == "" && item.APIVersion == "" {
			item.Kind, item.APIVersion = kind, o.APIVersion
		}
		if all, err = item.flatten(all); err != nil {
			return nil, err
		}
	}
	return all, nil
}
