package selection

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubecascade/kubecascade/internal/cluster"
)

// UsageError is an error of the command line that Ask finds.
type UsageError struct{ error }

// Line is the part of a command line that selects objects.
type Line struct {
	Args []string
	// Files, Selector and All select objects in place of arguments; at most one of the four may be used.
	Files      []string // values of --filename
	Recursive  bool     // directories in Files are read with their subdirectories
	Selector   string
	All        bool
	Everywhere bool // Selector and All select objects of all namespaces
	One        bool // arguments must name one object

	Objects []Object // the objects that arguments and files name; Parse sets them
}

// Parse checks the line and reads its files, from stdin if one is "-".
func (l *Line) Parse(stdin io.Reader) (err error) {
	selecting, files := l.Selector != "" || l.All, len(l.Files) > 0
	switch {
	case files && (selecting || len(l.Args) > 0):
		return errors.New("--filename can't be used with --selector, --all or arguments")
	case l.Recursive && !files:
		return errors.New("--recursive requires --filename")
	case files:
		l.Objects, err = l.read(stdin)
		return err
	case l.Selector != "" && l.All:
		return errors.New("--selector can't be used with --all")
	case l.Everywhere && !selecting: // as kubectl, which ignores it for files
		return errors.New("--all-namespaces requires --selector or --all")
	case selecting && (len(l.Args) != 1 || strings.Contains(l.Args[0], "/")):
		return errors.New("--selector and --all require KINDs, separated by commas, and no names")
	case selecting:
		return nil
	}
	if l.Objects, err = named(l.Args); l.One && len(l.Objects) > 1 {
		err = fmt.Errorf("unexpected argument %q", l.Objects[1].From)
	}
	return err
}

// named returns the objects that arguments name: KIND/NAME each, or KINDs before all names.
func named(args []string) (all []Object, err error) {
	if len(args) == 0 {
		return nil, errors.New("an object is required: KIND/NAME")
	}
	kinds := []string{""}
	if !strings.Contains(args[0], "/") {
		if kinds, args = strings.Split(args[0], ","), args[1:]; len(args) == 0 {
			return nil, fmt.Errorf("%q is not KIND/NAME", strings.Join(kinds, ","))
		}
	}
	for _, kind := range kinds {
		for _, a := range args {
			one, name, both := strings.Cut(a, "/")
			if both == (kind != "") || strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q is not %s", a, map[bool]string{true: "a name", false: "KIND/NAME"}[kind != ""])
			}
			if !both {
				one, name = kind, a
			}
			if one == "" || name == "" {
				return nil, fmt.Errorf("%q lacks a kind or a name: KIND/NAME", a)
			}
			all = append(all, Object{Named: cluster.Named{Resource: one, Name: name}, From: a})
		}
	}
	return all, nil
}

// Ask sets the objects of a question to those of a line that Parse has accepted. namespace is that of the command. If
// explicit is set, a flag has set the namespace, and objects of files must be in it.
func (l *Line) Ask(about *cluster.Question, served *cluster.Discovery, namespace string, explicit bool) error {
	if l.Selector != "" || l.All {
		return l.ask(about, served, namespace)
	}
	for _, o := range l.Objects {
		own := o.Namespace
		if own == "" {
			o.Namespace = namespace
		}
		k, err := served.Key(o.Named)
		switch {
		case err != nil && o.Kind != "":
			return fmt.Errorf("%s: %w", o.From, err)
		case err != nil:
			return err
		case own != "" && k.Namespace != "" && own != namespace && explicit:
			// As in kubectl (K cli-runtime/pkg/resource/visitor.go: RequireNamespace).
			return &UsageError{fmt.Errorf("%s: %s %s is in namespace %s, and --namespace is %s", o.From, o.Kind, o.Name, own,
				namespace)}
		}
		about.Objects = append(about.Objects, cluster.Named{Resource: k.Collection, Namespace: k.Namespace, Name: k.Name})
	}
	return nil
}

// ask sets the objects of a question to those that Selector or All selects.
func (l *Line) ask(about *cluster.Question, served *cluster.Discovery, namespace string) error {
	for kind := range strings.SplitSeq(l.Args[0], ",") {
		r, err := served.Resolve(kind)
		if err != nil {
			return err
		}
		of := cluster.Named{Resource: r.Name()}
		if r.Namespaced && !l.Everywhere {
			of.Namespace = namespace
		}
		about.Objects = append(about.Objects, of)
	}
	return about.Select(l.Selector)
}

// None returns the error of a question whose selector has selected no object.
func (l *Line) None(about *cluster.Question) error {
	var kinds []string
	where := ""
	for _, of := range about.Objects {
		if kinds = append(kinds, of.Resource); of.Namespace != "" {
			where = " in namespace " + of.Namespace
		}
	}
	if l.All {
		return fmt.Errorf("there are no %s%s", strings.Join(kinds, ", "), where)
	}
	return fmt.Errorf("no %s match the selector %q%s", strings.Join(kinds, ", "), l.Selector, where)
}
