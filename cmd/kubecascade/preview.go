package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// cascades are the values of --cascade, as kubectl has them, with the propagation policy of each.
var cascades = map[string]string{"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}

// previewCommand is "preview", which has "delete".
func previewCommand() *cobra.Command {
	c := &cobra.Command{Use: "preview", Short: "Show what a command would do, on any cluster"}
	c.AddCommand(previewDeleteCommand())
	return c
}

// previewDelete is "preview delete".
type previewDelete struct {
	question
	cascade  string
	grace    int64
	file     string
	selector string
	exitCode bool
}

func previewDeleteCommand() *cobra.Command {
	p := &previewDelete{}
	c := &cobra.Command{
		Use:   "delete (KIND/NAME... | KIND -l SELECTOR | -f FILE)",
		Short: "Show what a deletion would delete, orphan and leave, on any cluster",
		Long: `Show what "kubectl delete" with the same arguments would do, in the order in which it would happen:
what is deleted, what loses an owner and stays, what stays terminating and by which finalizer, and which
references point to nothing then. A kubecascade server computes it at one revision; for another server it
is computed from the metadata of all objects. Nothing is written, and nothing is tried. It assumes that the garbage collector, the other controllers and the kubelets work,
and that admission denies nothing. What controllers create again is not shown.`,
		Args: cobra.ArbitraryArgs,
		RunE: p.run,
	}
	p.flags(c, "text", "json")
	p.fromFlag(c)
	f := c.Flags()
	f.StringVar(&p.cascade, "cascade", "background", "background, foreground or orphan")
	f.Int64Var(&p.grace, "grace-period", -1, "grace period in seconds; a negative one leaves it to the object")
	f.StringVarP(&p.file, "filename", "f", "", "file with the objects to delete, in YAML or JSON; - for standard input")
	f.StringVarP(&p.selector, "selector", "l", "", "label selector of the objects to delete")
	f.BoolVar(&p.exitCode, "exit-code", false, "exit with 1 if objects would stay terminating, or references dangling")
	return c
}

func (p *previewDelete) run(c *cobra.Command, args []string) error {
	if cascades[p.cascade] == "" {
		return errUsage{fmt.Errorf("--cascade %q is not background, foreground or orphan", p.cascade)}
	}
	if err := p.connect(c.Context()); err != nil {
		return err
	}
	keys, err := p.chosen(c.Context(), c.InOrStdin(), args)
	if err != nil {
		return err
	}
	preview, now, err := p.preview(c, keys)
	if err != nil {
		return err
	}
	err = p.print(c.OutOrStdout(), preview, map[string]func() string{
		"text": func() string { return preview.Text(style(c.OutOrStdout(), now)) },
	})
	if err == nil && p.exitCode && len(preview.Left)+len(preview.Dangling) > 0 {
		return errFound
	}
	return err
}

// preview previews the deletions, and returns the moment of the answer.
func (p *previewDelete) preview(c *cobra.Command, keys []graph.Key) (*explain.Preview, time.Time, error) {
	options := finalizers.Options{PropagationPolicy: cascades[p.cascade]}
	if p.grace >= 0 {
		options.GracePeriodSeconds = &p.grace
	}
	answer := &explain.Preview{}
	ask := cluster.Question{Path: "preview", Keys: keys, Namespace: p.namespace, Options: options}
	if answered, err := p.ask(c.Context(), ask, answer); answered || err != nil {
		return answer, time.Now(), err
	}
	got, err := p.read(c.Context(), c.ErrOrStderr())
	if err != nil {
		return nil, time.Time{}, err
	}
	if err := find(got, keys...); err != nil {
		return nil, time.Time{}, err
	}
	deletions := make([]explain.Deletion, len(keys))
	for i, k := range keys {
		deletions[i] = explain.Deletion{Key: k, Options: options}
	}
	return got.Preview(deletions), got.Now, nil
}

// chosen are the objects that the arguments, the selector or the file choose.
func (p *previewDelete) chosen(ctx context.Context, stdin io.Reader, args []string) ([]graph.Key, error) {
	switch {
	case p.file != "" && (p.selector != "" || len(args) > 0):
		return nil, errUsage{errors.New("--filename can't be used with --selector or arguments")}
	case p.file != "":
		return p.documents(stdin)
	case p.selector != "" && len(args) != 1:
		return nil, errUsage{errors.New("--selector requires one KIND")}
	case p.selector != "":
		r, err := p.discovery.Resolve(args[0])
		if err != nil {
			return nil, errUnable{err}
		}
		namespace := p.namespace
		if !r.Namespaced {
			namespace = ""
		}
		objects, err := p.client.List(ctx, r, namespace, url.Values{"labelSelector": {p.selector}})
		if err != nil {
			return nil, errUnable{err}
		}
		if len(objects) == 0 {
			return nil, errUnable{fmt.Errorf("no %s match the selector %q%s", r.Name(), p.selector, in(namespace))}
		}
		var keys []graph.Key
		for _, o := range objects {
			keys = append(keys, o.Key)
		}
		return keys, nil
	}
	return p.keys(args)
}

// documents are the objects that a file names.
func (p *previewDelete) documents(stdin io.Reader) (keys []graph.Key, err error) {
	if p.file != "-" {
		f, err := os.Open(p.file)
		if err != nil {
			return nil, errUsage{err}
		}
		defer f.Close()
		stdin = f
	}
	for d := yaml.NewYAMLOrJSONDecoder(stdin, 4096); ; {
		var o metav1.PartialObjectMetadata
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, errUsage{fmt.Errorf("%s: %w", p.file, err)}
		}
		if o.Kind == "" && o.Name == "" { // an empty document
			continue
		}
		r := p.discovery.Kind(o.APIVersion, o.Kind)
		if r == nil {
			return nil, errUnable{fmt.Errorf("%s: the server doesn't serve kind %q of %q", p.file, o.Kind, o.APIVersion)}
		}
		k := graph.Key{Collection: r.Name(), Name: o.Name}
		if r.Namespaced {
			k.Namespace = o.Namespace
			if k.Namespace == "" {
				k.Namespace = p.namespace
			}
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, errUsage{fmt.Errorf("%s: no objects", p.file)}
	}
	return keys, nil
}
