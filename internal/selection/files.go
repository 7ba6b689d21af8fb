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

// read returns the objects of all files.
func (l *Line) read(stdin io.Reader) (all []Object, err error) {
	for _, name := range l.Files {
		paths, err := l.paths(name)
		for i := 0; err == nil && i < len(paths); i++ {
			all, err = readFile(paths[i], stdin, all)
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
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err == nil && len(raw) > 0 && string(raw) != "null" { // otherwise the document is empty
			err = flatten(cluster.Named{}, raw, func(n cluster.Named) { all = append(all, Object{n, from}) })
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
	}
}

// flatten decodes an object and calls yield with it or, if it is a list, with its items. n has the type of an object
// without one: items are of the list's kind without "List" (AM pkg/apis/meta/v1/unstructured/helpers.go: decodeToList).
func flatten(n cluster.Named, raw json.RawMessage, yield func(cluster.Named)) error {
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
		return fmt.Errorf("%w: the field %s is a JSON %s", errNoObject, wrong.Field, wrong.Value)
	case err != nil:
		return errNoObject
	case d.Kind != "" || d.APIVersion != "":
		n.Kind, n.APIVersion = d.Kind, d.APIVersion
	}
	n.Namespace, n.Name = d.Metadata.Namespace, d.Metadata.Name
	switch {
	case n.Kind == "" || n.APIVersion == "":
		return fmt.Errorf("%w: kind and apiVersion are required", errNoObject)
	case d.Items == nil && n.Name == "":
		return fmt.Errorf("a %s has no name", n.Kind)
	case d.Items == nil:
		yield(n)
		return nil
	}
	var item cluster.Named
	if kind, ok := strings.CutSuffix(n.Kind, "List"); ok {
		item = cluster.Named{Kind: kind, APIVersion: n.APIVersion}
	}
	for _, raw := range *d.Items {
		if err := flatten(item, raw, yield); err != nil {
			return err
		}
	}
	return nil
}
