package selection

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

	"k8s.io/apimachinery/pkg/util/yaml"
)

// Files are the values of --filename and --recursive.
type Files struct {
	Names     []string
	Recursive bool
}

// Object is an object as a file declares it. File is its name; Namespace may be empty.
type Object struct{ APIVersion, Kind, Namespace, Name, File string }

// The errors of Read, besides those of files.
var (
	// ErrNothing: the files have no objects.
	ErrNothing = errors.New("no objects")
	// ErrNoObject: a document or an item of a list is something else.
	ErrNoObject = errors.New("not a Kubernetes object")
	// ErrURL: URLs are not supported.
	ErrURL = errors.New("URLs are not supported: fetch the file, and give its content to --filename -")
)

// Read returns the objects of all files. Those of lists are returned instead of the lists.
func (f *Files) Read(stdin io.Reader) (all []Object, err error) {
	for _, name := range f.Names {
		found, err := f.readOne(name, stdin)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(f.Names, ", "), ErrNothing)
	}
	return all, nil
}

// readOne returns the objects of a value of --filename: a file, a directory, a pattern, or standard input.
func (f *Files) readOne(name string, stdin io.Reader) (all []Object, err error) {
	switch {
	case name == "-":
		return decodeAll("standard input", stdin)
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return nil, fmt.Errorf("%s: %w", name, ErrURL)
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
		files, err := f.files(p)
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
func (f *Files) files(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				files = append(files, path)
			}
		case e.IsDir() && !f.Recursive:
			return fs.SkipDir
		case !e.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

func decodeFile(path string) ([]Object, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decodeAll(path, f)
}

// decodeAll returns the objects of all documents of a file.
func decodeAll(file string, content io.Reader) (all []Object, err error) {
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
		if all, err = flatten(Object{File: file}, raw, all); err != nil {
			return nil, err
		}
	}
}

// decoded is what is read of an object or a list.
type decoded struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items *[]json.RawMessage `json:"items"`
}

// flatten decodes an object, whose file and type are those of o if it has none, and appends it, or those of a list.
// Items without a type are of the list's kind without "List" (AM
// pkg/apis/meta/v1/unstructured/helpers.go: decodeToList).
func flatten(o Object, raw json.RawMessage, all []Object) (_ []Object, err error) {
	var d decoded
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &d); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return nil, fmt.Errorf("%s: %w: the field %s is a JSON %s", o.File, ErrNoObject, wrong.Field, wrong.Value)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", o.File, ErrNoObject)
	}
	if d.Kind != "" || d.APIVersion != "" {
		o.Kind, o.APIVersion = d.Kind, d.APIVersion
	}
	o.Namespace, o.Name = d.Metadata.Namespace, d.Metadata.Name
	switch {
	case o.Kind == "" || o.APIVersion == "":
		return nil, fmt.Errorf("%s: %w: kind and apiVersion are required", o.File, ErrNoObject)
	case d.Items == nil && o.Name == "":
		return nil, fmt.Errorf("%s: a %s has no name", o.File, o.Kind)
	case d.Items == nil:
		return append(all, o), nil
	}
	of := Object{File: o.File}
	if kind, ok := strings.CutSuffix(o.Kind, "List"); ok && kind != "" {
		of.Kind, of.APIVersion = kind, o.APIVersion
	}
	for _, item := range *d.Items {
		if all, err = flatten(of, item, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}
