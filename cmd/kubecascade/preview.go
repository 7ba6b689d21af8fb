package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/manifest"
)

// cascades are the values of --cascade, as kubectl has them, with the propagation policy of each.
var cascades = map[string]string{"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}

// previewCommand is "preview", which has "delete".
func previewCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "preview", Short: "Show what a command would do, on any cluster",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errUsage{fmt.Errorf("unknown command %q: only deletions are previewed", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(previewDeleteCommand())
	return c
}

// previewDelete is "preview delete".
type previewDelete struct {
	question
	cascade   string
	grace     int64
	manifests manifest.Files
	selector  string
	all       bool
	ignore    bool
	// explicit: --namespace is given.
	explicit bool
	exitCode bool
}

func previewDeleteCommand() *cobra.Command {
	p := &previewDelete{}
	c := &cobra.Command{
		Use:   "delete (KIND/NAME... | KIND (-l SELECTOR | --all) | -f FILE)",
		Short: "Show what a deletion would delete, orphan and leave, on any cluster",
		Long: `Show what "kubectl delete" with the same arguments would do, in the order in which it would happen:
what is deleted, what loses an owner and stays, what stays terminating and by which finalizer, and which
references point to nothing then. It is computed from the metadata of all objects; nothing is written,
and nothing is tried. It assumes that the garbage collector, the other controllers and the kubelets work,
and that admission denies nothing. What controllers create again is not shown.`,
		Args: cobra.ArbitraryArgs,
		RunE: p.run,
	}
	p.flags(c, "text", "json")
	p.offerArguments(c, mostNames)
	f := c.Flags()
	f.StringVar(&p.cascade, "cascade", "background", "background, foreground or orphan")
	f.Int64Var(&p.grace, "grace-period", -1, "grace period in seconds; a negative one leaves it to the object")
	f.StringSliceVarP(&p.manifests.Names, "filename", "f", nil,
		"files and directories with the objects to delete, in YAML or JSON; - for standard input")
	f.BoolVarP(&p.manifests.Recursive, "recursive", "R", false, "read the directories in those of --filename, too")
	f.BoolVar(&p.all, "all", false, "all objects of the KIND, in the namespace")
	f.BoolVar(&p.ignore, "ignore-not-found", false, "leave out objects that do not exist, which is an error otherwise")
	f.StringVarP(&p.selector, "selector", "l", "", "label selector of the objects to delete")
	f.BoolVar(&p.exitCode, "exit-code", false, "exit with 1 if objects would stay terminating, or references dangling")
	return c
}

func (p *previewDelete) run(c *cobra.Command, args []string) error {
	if cascades[p.cascade] == "" {
		return errUsage{fmt.Errorf("--cascade %q is not background, foreground or orphan", p.cascade)}
	}
	choose, err := p.chooser(c.InOrStdin(), args)
	if err != nil {
		return err
	}
	if err := p.connect(c.Context()); err != nil {
		return err
	}
	p.explicit = c.Flags().Changed("namespace")
	keys, err := choose(c.Context())
	if err != nil {
		return err
	}
	got, err := p.read(c.Context(), c.ErrOrStderr())
	if err != nil {
		return err
	}
	if keys, err = p.existing(c.ErrOrStderr(), got, keys); err != nil {
		return err
	}
	options := finalizers.Options{PropagationPolicy: cascades[p.cascade]}
	if p.grace >= 0 {
		options.GracePeriodSeconds = &p.grace
	}
	deletions := make([]explain.Deletion, len(keys))
	for i, k := range keys {
		deletions[i] = explain.Deletion{Key: k, Options: options}
	}
	preview := got.Preview(deletions)
	err = p.print(c.OutOrStdout(), preview, map[string]func() string{
		"text": func() string { return preview.Text(style(c.OutOrStdout(), got.Now)) },
	})
	if err == nil && p.exitCode && len(preview.Left)+len(preview.Dangling) > 0 {
		return errFound
	}
	return err
}

// existing are the keys of objects that exist, each once. With --ignore-not-found others are only named.
func (p *previewDelete) existing(stderr io.Writer, c *explain.Cluster, keys []graph.Key) (found []graph.Key, _ error) {
	known := finder(c)
	for _, k := range keys {
		switch err := known(k); {
		case err != nil && !p.ignore:
			return nil, err
		case err != nil:
			fmt.Fprintln(stderr, "warning:", err)
		case !slices.Contains(found, k):
			found = append(found, k)
		}
	}
	return found, nil
}

// chooser checks the arguments and reads the files, before anything is asked of the server. The function that it returns
// finds the objects with what the server has.
func (p *previewDelete) chooser(stdin io.Reader, args []string) (func(context.Context) ([]graph.Key, error), error) {
	selecting := p.selector != "" || p.all
	switch {
	case len(p.manifests.Names) > 0 && (selecting || len(args) > 0):
		return nil, errUsage{errors.New("--filename can't be used with --selector, --all or arguments")}
	case p.manifests.Recursive && len(p.manifests.Names) == 0:
		return nil, errUsage{errors.New("--recursive requires --filename")}
	case len(p.manifests.Names) > 0:
		all, err := p.manifests.Read(stdin)
		if err != nil {
			return nil, errUsage{err}
		}
		return func(context.Context) ([]graph.Key, error) { return p.declared(all) }, nil
	case p.selector != "" && p.all:
		return nil, errUsage{errors.New("--selector can't be used with --all")}
	case selecting && (len(args) != 1 || strings.Contains(args[0], "/")):
		return nil, errUsage{errors.New("--selector and --all require KINDs, separated by commas, and no names")}
	case selecting:
		return func(ctx context.Context) ([]graph.Key, error) { return p.selected(ctx, strings.Split(args[0], ",")) }, nil
	}
	all, err := objects(args, math.MaxInt)
	return func(context.Context) ([]graph.Key, error) { return p.keys(all) }, err
}

// selected are the objects that --selector or --all chooses.
func (p *previewDelete) selected(ctx context.Context, kinds []string) (keys []graph.Key, _ error) {
	where := ""
	var names []string
	for _, kind := range kinds {
		r, err := p.discovery.Resolve(kind)
		if err != nil {
			return nil, errUnable{err}
		}
		namespace := ""
		if r.Namespaced {
			namespace, where = p.namespace, in(p.namespace)
		}
		names = append(names, r.Name())
		objects, err := p.client.List(ctx, r, namespace, url.Values{"labelSelector": {p.selector}})
		if err != nil {
			return nil, errUnable{err}
		}
		for _, o := range objects {
			keys = append(keys, o.Key)
		}
	}
	if len(keys) > 0 {
		return keys, nil
	}
	what := strings.Join(names, ", ")
	if p.all {
		return nil, errUnable{fmt.Errorf("there are no %s%s", what, where)}
	}
	return nil, errUnable{fmt.Errorf("no %s match the selector %q%s", what, p.selector, where)}
}

// declared are the objects that files declare. As in kubectl, an explicit --namespace must be theirs
// (K cli-runtime/pkg/resource/visitor.go: RequireNamespace).
func (p *previewDelete) declared(all []manifest.Object) (keys []graph.Key, err error) {
	for _, o := range all {
		r := p.discovery.Kind(o.APIVersion, o.Kind)
		if r == nil {
			return nil, errUnable{fmt.Errorf("%s: the server doesn't serve kind %q of %q", o.File, o.Kind, o.APIVersion)}
		}
		k := graph.Key{Collection: r.Name(), Name: o.Name}
		if r.Namespaced {
			k.Namespace = p.namespace
			if given := o.Namespace; given != "" && given != p.namespace {
				if p.explicit {
					return nil, errUsage{fmt.Errorf("%s: %s %s is in namespace %s, and --namespace is %s", o.File, o.Kind,
						o.Name, given, p.namespace)}
				}
				k.Namespace = given
			}
		}
		keys = append(keys, k)
	}
	return keys, nil
}
