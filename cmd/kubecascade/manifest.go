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
	Metadata        struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items *[]json.RawMessage `json:"items"`

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
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case len(raw) == 0 || string(raw) == "null": // an empty document
			continue
		}
		if all, err = flatten(declared{file: file}, raw, all); err != nil {
			return nil, err
		}
	}
}

// errNoObject: a document or an item of a list is something else.
var errNoObject = errors.New("not a Kubernetes object")

// flatten decodes an object, whose file and type are those of o if it has none, and appends it, or those of a list.
// Items without a type are of the list's kind without "List" (AM
// pkg/apis/meta/v1/unstructured/helpers.go: decodeToList).
func flatten(o declared, raw json.RawMessage, all []declared) (_ []declared, err error) {
	listed := o.TypeMeta
	o.TypeMeta = metav1.TypeMeta{}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &o); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return nil, fmt.Errorf("%s: %w: the field %s is a JSON %s", o.file, errNoObject, wrong.Field, wrong.Value)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", o.file, errNoObject)
	}
	if o.Kind == "" && o.APIVersion == "" {
		o.TypeMeta = listed
	}
	switch {
	case o.Kind == "" || o.APIVersion == "":
		return nil, fmt.Errorf("%s: %w: kind and apiVersion are required", o.file, errNoObject)
	case o.Items == nil && o.Metadata.Name == "":
		return nil, fmt.Errorf("%s: a %s has no name", o.file, o.Kind)
	case o.Items == nil:
		return append(all, o), nil
	}
	of := declared{file: o.file}
	if kind, ok := strings.CutSuffix(o.Kind, "List"); ok && kind != "" {
		of.Kind, of.APIVersion = kind, o.APIVersion
	}
	for _, item := range *o.Items {
		if all, err = flatten(of, item, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}
