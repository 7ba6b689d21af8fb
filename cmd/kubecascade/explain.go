package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// question is what the commands that explain a cluster have in common: the server, as kubectl finds it, and the output.
type question struct {
	target
	namespace string
	output    string
	// cluster and user are names in the kubeconfig; as and groups are impersonated.
	cluster, user, as string
	groups            []string

	client    *cluster.Client
	discovery *cluster.Discovery
}

func (q *question) flags(c *cobra.Command, formats ...string) {
	f := c.Flags()
	q.target.flags(f)
	f.Lookup("kubeconfig").Usage = "kubeconfig file; KUBECONFIG or ~/.kube/config by default"
	f.StringVar(&q.cluster, "cluster", "", "cluster of the kubeconfig to use instead of the context's")
	f.StringVar(&q.user, "user", "", "user of the kubeconfig to use instead of the context's")
	f.StringVar(&q.as, "as", "", "user to impersonate")
	f.StringArrayVar(&q.groups, "as-group", nil, "group to impersonate; may be repeated")
	f.StringVarP(&q.namespace, "namespace", "n", "", "namespace of the objects; that of the context by default")
	f.StringVarP(&q.output, "output", "o", "text", "format of the answer: "+strings.Join(formats, ", "))
	q.offerValues(c, formats)
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := (outputs{q.output}).check(formats...); err != nil {
			return err
		}
		return run(c, args)
	}
}

// connect finds the server as kubectl does, and reads what it serves.
func (q *question) connect(ctx context.Context) (err error) {
	if err := q.dial(); err != nil {
		return err
	}
	if q.discovery, err = q.client.Discover(ctx); err != nil {
		return errUnable{err}
	}
	return nil
}

// dial finds the server as kubectl does.
func (q *question) dial() error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = q.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: q.context}
	overrides.ClusterInfo.Server = q.server
	overrides.ClusterInfo.InsecureSkipTLSVerify = q.insecure
	overrides.ClusterInfo.CertificateAuthority = q.authority
	overrides.AuthInfo.Token = q.token
	overrides.Context.Cluster, overrides.Context.AuthInfo = q.cluster, q.user
	overrides.AuthInfo.Impersonate, overrides.AuthInfo.ImpersonateGroups = q.as, q.groups
	load := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	c, err := load.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return errUsage{errors.New("no cluster: set KUBECONFIG, or use --kubeconfig or --server")}
	} else if err != nil {
		return errUnable{fmt.Errorf("kubeconfig: %w", err)}
	}
	if q.namespace == "" {
		if q.namespace, _, err = load.Namespace(); err != nil {
			return errUnable{fmt.Errorf("kubeconfig: %w", err)}
		}
	}
	c.UserAgent = "kubecascade"
	base, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return errUsage{fmt.Errorf("--server: %w", err)}
	}
	h, err := rest.HTTPClientFor(c)
	if err != nil {
		return errUnable{err}
	}
	q.client = &cluster.Client{URL: strings.TrimRight(base.String(), "/"), HTTP: h}
	return nil
}

// read reads the metadata of all objects, with progress on a terminal.
func (q *question) read(ctx context.Context, stderr io.Writer) (*explain.Cluster, error) {
	line := newProgressLine(stderr)
	defer line.clear()
	c, err := q.client.Read(ctx, q.discovery, cluster.Options{
		Namespace: q.namespace,
		Progress: func(done, all, objects int) {
			line.print(fmt.Sprintf("%d of %d resources listed, %d objects", done, all, objects))
		},
	})
	if err != nil {
		return nil, errUnable{err}
	}
	return c, nil
}

// named is an object as arguments name it.
type named struct{ kind, name string }

// objects are the objects that arguments name: KIND/NAME each, or KINDs before all names; at most most of them.
func objects(args []string, most int) (all []named, err error) {
	if len(args) == 0 {
		return nil, errUsage{errors.New("an object is required: KIND/NAME")}
	}
	kinds := []string{""}
	if !strings.Contains(args[0], "/") {
		if kinds, args = strings.Split(args[0], ","), args[1:]; len(args) == 0 {
			return nil, errUsage{fmt.Errorf("%q is not KIND/NAME", strings.Join(kinds, ","))}
		}
	}
	for _, kind := range kinds {
		for _, a := range args {
			one, name, both := strings.Cut(a, "/")
			if both == (kind != "") || strings.Contains(name, "/") {
				return nil, errUsage{fmt.Errorf("%q is not %s", a, map[bool]string{true: "a name", false: "KIND/NAME"}[kind != ""])}
			}
			if !both {
				one, name = kind, a
			}
			if one == "" || name == "" {
				return nil, errUsage{fmt.Errorf("%q lacks a kind or a name: KIND/NAME", a)}
			}
			if len(all) == most {
				return nil, errUsage{fmt.Errorf("unexpected argument %q", a)}
			}
			all = append(all, named{one, name})
		}
	}
	return all, nil
}

// keys are those of objects, by the resources that the server has.
func (q *question) keys(all []named) (keys []graph.Key, err error) {
	for _, o := range all {
		r, err := q.discovery.Resolve(o.kind)
		if err != nil {
			return nil, errUnable{err}
		}
		k := graph.Key{Collection: r.Name(), Name: o.name}
		if r.Namespaced {
			k.Namespace = q.namespace
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// find checks that the objects exist in what was read.
func find(c *explain.Cluster, keys ...graph.Key) error {
	known := finder(c)
	for _, k := range keys {
		if err := known(k); err != nil {
			return err
		}
	}
	return nil
}

// finder returns a function that says why there is no object at a key.
func finder(c *explain.Cluster) func(graph.Key) error {
	known := map[graph.Key]bool{}
	for i := range c.Objects {
		known[c.Objects[i].Key] = true
	}
	return func(k graph.Key) error {
		if known[k] {
			return nil
		}
		for i := range c.Resources {
			if r := &c.Resources[i]; r.Name() == k.Collection && r.Unknown != "" {
				return errUnable{fmt.Errorf("%s %q: %s", k.Collection, k.Name, r.Unknown)}
			}
		}
		return errUnable{fmt.Errorf("%s %q not found%s", k.Collection, k.Name, in(k.Namespace))}
	}
}

func in(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// style is how answers are shown on an output: with the width and the colours of a terminal, if it is one.
func style(w io.Writer, now time.Time) explain.Style {
	s := explain.Style{Now: now}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	_, plain := os.LookupEnv("NO_COLOR")
	s.Color = !plain && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.Width = width
	}
	return s
}

// print prints an answer in the format of --output.
func (q *question) print(w io.Writer, value any, formats map[string]func() string) error {
	if q.output == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(value)
	}
	_, err := io.WriteString(w, formats[q.output]())
	return err
}

// treeCommand is "tree".
func treeCommand() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "tree KIND/NAME",
		Short: "Show the owners and the dependents of an object, on any cluster",
		Long: `Show the owners of an object above it and its dependents below it, with their finalizers, deletions
that have begun, and references that do not hold: to owners that do not exist, or are in another
namespace, or have another kind or name. Objects are joined by uid. All objects are listed by their
metadata; nothing is written.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			got, keys, err := q.ask(c, args, 1)
			if err != nil {
				return err
			}
			t := got.Tree(keys[0])
			return q.print(c.OutOrStdout(), t, map[string]func() string{
				"text": func() string { return t.Text(style(c.OutOrStdout(), got.Now)) }, "dot": t.DOT, "mermaid": t.Mermaid,
			})
		},
	}
	q.flags(c, "text", "dot", "mermaid", "json")
	q.offerArguments(c, 1)
	return c
}

// whyCommand is "why".
func whyCommand() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Say why an object or a namespace is still there, or is about to go, on any cluster",
		Long: `Say why an object is still there, or is about to be deleted: its finalizers, which component set
them and which one removes them; the dependents that block it, with their own reasons; the content and
the conditions of a namespace; API services that are not available; grace periods. Then what to do about
each reason, the most careful first, as commands for kubectl. All objects are listed by their metadata;
nothing is written.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			got, keys, err := q.ask(c, args, 1)
			if err != nil {
				return err
			}
			warnUnknown(c.ErrOrStderr(), got, func(r *explain.Resource) bool { return r.Group == "admissionregistration.k8s.io" })
			r := got.Why(keys[0])
			return q.print(c.OutOrStdout(), r, map[string]func() string{
				"text": func() string { return r.Text(style(c.OutOrStdout(), got.Now)) },
			})
		},
	}
	q.flags(c, "text", "json")
	q.offerArguments(c, 1)
	return c
}

// warnUnknown names the resources whose objects are not known, of those that are of interest.
func warnUnknown(w io.Writer, c *explain.Cluster, interesting func(*explain.Resource) bool) {
	for i := range c.Resources {
		if r := &c.Resources[i]; r.Unknown != "" && interesting(r) {
			fmt.Fprintf(w, "warning: %s: %s\n", r.Name(), r.Unknown)
		}
	}
}

// ask reads the cluster and finds the objects of the arguments; most is how many there may be.
func (q *question) ask(c *cobra.Command, args []string, most int) (*explain.Cluster, []graph.Key, error) {
	all, err := objects(args, most)
	if err != nil {
		return nil, nil, err
	}
	if err := q.connect(c.Context()); err != nil {
		return nil, nil, err
	}
	keys, err := q.keys(all)
	if err != nil {
		return nil, nil, err
	}
	got, err := q.read(c.Context(), c.ErrOrStderr())
	if err != nil {
		return nil, nil, err
	}
	return got, keys, find(got, keys...)
}

// errFound is the result of --exit-code if there is something to see.
var errFound = errExit{code: 1}

// lintCommand is "lint".
func lintCommand() *cobra.Command {
	var q question
	var all, code bool
	c := &cobra.Command{
		Use:   "lint",
		Short: "Find problems of ownership and deletion, on any cluster",
		Long: `Find problems of ownership and deletion: owners that do not exist, are in another namespace, or have
another kind, name or uid than the reference says; objects that own each other; finalizers of unknown
components; objects and namespaces that have been terminating for more than 5 minutes. All objects are
listed by their metadata; nothing is written.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := q.connect(c.Context()); err != nil {
				return err
			}
			got, err := q.read(c.Context(), c.ErrOrStderr())
			if err != nil {
				return err
			}
			if all {
				q.namespace = ""
			}
			found := got.Lint(q.namespace)
			warnUnknown(c.ErrOrStderr(), got, func(*explain.Resource) bool { return true })
			if found == nil {
				found = []explain.Finding{}
			}
			err = q.print(c.OutOrStdout(), found, map[string]func() string{"text": func() string {
				if len(found) == 0 {
					return "no problems found\n"
				}
				return explain.Report(found, style(c.OutOrStdout(), got.Now))
			}})
			if err == nil && code && len(found) > 0 {
				return errFound
			}
			return err
		},
	}
	q.flags(c, "text", "json")
	c.Flags().BoolVarP(&all, "all-namespaces", "A", false, "all namespaces, and cluster-scoped objects")
	c.Flags().BoolVar(&code, "exit-code", false, "exit with 1 if there are problems")
	return c
}
