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

	"github.com/kubecascade/kubecascade/internal/cluster"
)

// Object is an object as a file declares it, whose namespace may be empty, or as an argument names it. From is the file
// or the argument.
type Object struct {
	cluster.Named
	From string
}

// The errors of read, besides those of files.
var (
	errNothing  = errors.New("no objects")
	errNoObject = errors.New("not a Kubernetes object") // a document, or an item of a list
	errURL      = errors.New("URLs are not supported: fetch the file, and give its content to --filename -")
)

// read returns the objects of all files. Lists are replaced by their objects.
func (l *Line) read(stdin io.Reader) (all []Object, err error) {
	for _, name := range l.Files {
		paths, err := l.paths(name)
		for _, path := range paths {
			if err == nil {
				all, err = readFile(path, stdin, all)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(l.Files, ", "), errNothing)
	}
	return all, nil
}

// extensions has the extensions of the files that are read in a directory (K cli-runtime/pkg/resource/builder.go:
// FileExtensions).
var extensions = []string{".json", ".yaml", ".yml"}

// paths returns the files of a value of --filename: standard input, a file, those of a directory, with its own
// directories if --recursive is set, or those that a pattern matches.
func (l *Line) paths(name string) (paths []string, err error) {
	switch {
	case name == "-":
		return []string{name}, nil
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return nil, fmt.Errorf("%s: %w", name, errURL)
	}
	roots := []string{name}
	if _, err := os.Stat(name); err != nil { // then kubectl takes it for a pattern
		if roots, _ = filepath.Glob(name); len(roots) == 0 {
			return nil, err
		}
	}
	for _, root := range roots {
		err = errors.Join(err, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path == root:
				if info, err := os.Stat(path); err == nil && !info.IsDir() {
					paths = append(paths, path)
				}
			case e.IsDir() && !l.Recursive:
				return fs.SkipDir
			case !e.IsDir() && slices.Contains(extensions, filepath.Ext(path)):
				paths = append(paths, path)
			}
			return nil
		}))
	}
	return paths, err
}

// readFile appends the objects of all documents of a file.
func readFile(path string, stdin io.Reader, all []Object) ([]Object, error) {
	from, content := "standard input", stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from, content = path, f
	}
	for d := yaml.NewYAMLOrJSONDecoder(content, 4096); ; {
		var raw json.RawMessage
		err := d.Decode(&raw)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", from, err)
		case len(raw) == 0 || string(raw) == "null": // an empty document
			continue
		}
		if all, err = flatten(Object{From: from}, raw, all); err != nil {
			return nil, err
		}
	}
}

// flatten decodes an object and appends it or, if it is a list, its items. o has the file, and the type of an object
// without one. Items without a type are of the list's kind without "List" (AM pkg/apis/meta/v1/unstructured/helpers.go:
// decodeToList).
func flatten(o Object, raw json.RawMessage, all []Object) (_ []Object, err error) {
	var d struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Items *[]json.RawMessage `json:"items"`
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, &d); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return nil, fmt.Errorf("%s: %w: the field %s is a JSON %s", o.From, errNoObject, wrong.Field, wrong.Value)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", o.From, errNoObject)
	}
	if d.Kind != "" || d.APIVersion != "" {
		o.Kind, o.APIVersion = d.Kind, d.APIVersion
	}
	o.Namespace, o.Name = d.Metadata.Namespace, d.Metadata.Name
	switch {
	case o.Kind == "" || o.APIVersion == "":
		return nil, fmt.Errorf("%s: %w: kind and apiVersion are required", o.From, errNoObject)
	case d.Items == nil && o.Name == "":
		return nil, fmt.Errorf("%s: a %s has no name", o.From, o.Kind)
	case d.Items == nil:
		return append(all, o), nil
	}
	of := Object{From: o.From}
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
