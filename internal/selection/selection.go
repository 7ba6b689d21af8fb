package selection

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
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

	// Objects are those that arguments and files name, or one without a name for each KIND that Selector or All selects.
	// Parse sets them.
	Objects []Object
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
		for kind := range strings.SplitSeq(l.Args[0], ",") {
			l.Objects = append(l.Objects, Object{Named: cluster.Named{Resource: kind}})
		}
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
		form, before := "KIND/NAME", ""
		if kind != "" {
			form, before = "a name", kind+"/"
		}
		for _, a := range args {
			parts := strings.Split(before+a, "/")
			if len(parts) != 2 {
				return nil, fmt.Errorf("%q is not %s", a, form)
			}
			if slices.Contains(parts, "") {
				return nil, fmt.Errorf("%q lacks a kind or a name: KIND/NAME", a)
			}
			all = append(all, Object{Named: cluster.Named{Resource: parts[0], Name: parts[1]}, From: a})
		}
	}
	return all, nil
}

// Ask sets the objects of a question to those of a line that Parse has accepted. namespace is that of the command. If
// explicit is set, a flag has set the namespace, and objects of files must be in it.
func (l *Line) Ask(about *cluster.Question, served *cluster.Discovery, namespace string, explicit bool) error {
	for _, o := range l.Objects {
		r, err := served.Resolve(o.Resource)
		if o.Kind != "" {
			if r, err = served.Resource(o.Named); err != nil {
				err = fmt.Errorf("%s: %w", o.From, err)
			}
		}
		if err != nil {
			return err
		}
		of := cluster.Named{Resource: r.Name(), Name: o.Name}
		if r.Namespaced && (o.Name != "" || !l.Everywhere) {
			of.Namespace = cmp.Or(o.Namespace, namespace)
		}
		if explicit && of.Namespace != "" && of.Namespace != namespace {
			// As in kubectl (K cli-runtime/pkg/resource/visitor.go: RequireNamespace).
			return &UsageError{fmt.Errorf("%s: %s %s is in namespace %s, and --namespace is %s", o.From, o.Kind, o.Name,
				of.Namespace, namespace)}
		}
		about.Objects = append(about.Objects, of)
	}
	if l.Selector != "" || l.All {
		return about.Select(l.Selector)
	}
	return nil
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
