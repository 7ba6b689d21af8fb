package selection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// UsageError is an error of the command line, not of the server.
type UsageError struct{ Err error }

// Error is the message of the error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *UsageError) Unwrap() error { return e.Err }

func usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Line is what a command line says.
type Line struct {
	Args []string
	// Files, Selector and All choose objects otherwise; at most one of the four may be used.
	Files    Files
	Selector string
	All      bool
	// Everywhere has Selector and All choose objects of all namespaces.
	Everywhere bool
}

// Server is where the objects are, with the namespace of the command. Explicit: a flag names the namespace, and objects
// of files must be in it.
type Server struct {
	Client    *cluster.Client
	Discovery *cluster.Discovery
	Namespace string
	Explicit  bool
}

// Choice is a line that has been checked.
type Choice struct {
	names    []named
	kinds    []string
	declared []Object
	line     Line
}

// Parse checks the line and reads its files, from stdin if one is "-".
func (l Line) Parse(stdin io.Reader) (c *Choice, err error) {
	c = &Choice{line: l}
	selecting, files := l.Selector != "" || l.All, len(l.Files.Names) > 0
	switch {
	case files && (selecting || len(l.Args) > 0):
		return nil, usage("--filename can't be used with --selector, --all or arguments")
	case l.Files.Recursive && !files:
		return nil, usage("--recursive requires --filename")
	case files:
		if c.declared, err = l.Files.Read(stdin); err != nil {
			return nil, &UsageError{err}
		}
		return c, nil
	case l.Selector != "" && l.All:
		return nil, usage("--selector can't be used with --all")
	case l.Everywhere && !selecting && !files: // as kubectl, which ignores it for files
		return nil, usage("--all-namespaces requires --selector or --all")
	case selecting && (len(l.Args) != 1 || strings.Contains(l.Args[0], "/")):
		return nil, usage("--selector and --all require KINDs, separated by commas, and no names")
	case selecting:
		c.kinds = strings.Split(l.Args[0], ",")
		return c, nil
	}
	c.names, err = names(l.Args)
	return c, err
}

// One is an error if the line names more than one object.
func (c *Choice) One() error {
	if len(c.names) > 1 {
		return usage("unexpected argument %q", c.names[1].argument)
	}
	return nil
}

// named is an object as an argument names it.
type named struct{ kind, name, argument string }

// names are the objects that arguments name: KIND/NAME each, or KINDs before all names.
func names(args []string) (all []named, err error) {
	if len(args) == 0 {
		return nil, usage("an object is required: KIND/NAME")
	}
	kinds := []string{""}
	if !strings.Contains(args[0], "/") {
		if kinds, args = strings.Split(args[0], ","), args[1:]; len(args) == 0 {
			return nil, usage("%q is not KIND/NAME", strings.Join(kinds, ","))
		}
	}
	for _, kind := range kinds {
		for _, a := range args {
			one, name, both := strings.Cut(a, "/")
			if both == (kind != "") || strings.Contains(name, "/") {
				return nil, usage("%q is not %s", a, map[bool]string{true: "a name", false: "KIND/NAME"}[kind != ""])
			}
			if !both {
				one, name = kind, a
			}
			if one == "" || name == "" {
				return nil, usage("%q lacks a kind or a name: KIND/NAME", a)
			}
			all = append(all, named{one, name, a})
		}
	}
	return all, nil
}

// Keys are the chosen objects, which exist if they were chosen by a selector or as all of a kind.
func (c *Choice) Keys(ctx context.Context, s Server) (keys []graph.Key, err error) {
	switch {
	case c.kinds != nil:
		keys, err = c.selected(ctx, s)
	case c.declared != nil:
		keys, err = s.declared(c.declared)
	default:
		keys, err = s.named(c.names)
	}
	var different []graph.Key
	seen := map[graph.Key]bool{}
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			different = append(different, k)
		}
	}
	return different, err
}

func (s Server) named(all []named) (keys []graph.Key, err error) {
	for _, o := range all {
		r, err := s.Discovery.Resolve(o.kind)
		if err != nil {
			return nil, err
		}
		k := graph.Key{Collection: r.Name(), Name: o.name}
		if r.Namespaced {
			k.Namespace = s.Namespace
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// selected are the objects that the selector or All chooses.
func (c *Choice) selected(ctx context.Context, s Server) (keys []graph.Key, _ error) {
	where := ""
	var names []string
	for _, kind := range c.kinds {
		r, err := s.Discovery.Resolve(kind)
		if err != nil {
			return nil, err
		}
		namespace := ""
		if r.Namespaced && !c.line.Everywhere {
			namespace, where = s.Namespace, in(s.Namespace)
		}
		names = append(names, r.Name())
		objects, err := s.Client.List(ctx, r, cluster.Selector{Namespace: namespace, Labels: c.line.Selector})
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			keys = append(keys, o.Key)
		}
	}
	if len(keys) > 0 {
		return keys, nil
	}
	what := strings.Join(names, ", ")
	if c.line.All {
		return nil, noneError(fmt.Sprintf("there are no %s%s", what, where))
	}
	return nil, noneError(fmt.Sprintf("no %s match the selector %q%s", what, c.line.Selector, where))
}

// noneError says that no object is chosen. It is an ErrNotFound.
type noneError string

// Error is the message.
func (e noneError) Error() string { return string(e) }

// Is makes errors.Is(err, ErrNotFound) hold.
func (e noneError) Is(target error) bool { return target == ErrNotFound }

// declared are the objects that files declare. As in kubectl, an explicit --namespace must be theirs
// (K cli-runtime/pkg/resource/visitor.go: RequireNamespace).
func (s Server) declared(all []Object) (keys []graph.Key, err error) {
	for _, o := range all {
		r := s.Discovery.Kind(o.APIVersion, o.Kind)
		if r == nil {
			return nil, fmt.Errorf("%s: the server doesn't serve kind %q of %q", o.File, o.Kind, o.APIVersion)
		}
		k := graph.Key{Collection: r.Name(), Name: o.Name}
		if r.Namespaced {
			k.Namespace = s.Namespace
			if given := o.Namespace; given != "" && given != s.Namespace {
				if s.Explicit {
					return nil, usage("%s: %s %s is in namespace %s, and --namespace is %s", o.File, o.Kind, o.Name, given,
						s.Namespace)
				}
				k.Namespace = given
			}
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// ErrNotFound: there is no object at a key, as far as is known.
var ErrNotFound = errors.New("not found")

// NotFound is the error for an object that does not exist.
func NotFound(k graph.Key) error {
	return fmt.Errorf("%s %q %w%s", k.Collection, k.Name, ErrNotFound, in(k.Namespace))
}

// Absent returns NotFound for the key that has no object, if err is a server's answer that there is none; else err.
func Absent(keys []graph.Key, err error) error {
	var s *apierrors.StatusError
	if !apierrors.IsNotFound(err) || !errors.As(err, &s) || s.ErrStatus.Details == nil {
		return err
	}
	for _, k := range keys {
		if k.Name == s.ErrStatus.Details.Name {
			return NotFound(k)
		}
	}
	return err
}

// Concerned returns the namespace that a question is about: one of the objects, or else the command's.
func Concerned(keys []graph.Key, namespace string) string {
	for _, k := range keys {
		if k.Collection == "namespaces" {
			return k.Name
		}
	}
	return namespace
}
