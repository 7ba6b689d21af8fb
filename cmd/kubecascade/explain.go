package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/child"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/selection"
)

// question is what the commands that explain a cluster have in common: the server, as kubectl finds it, and the output.
type question struct {
	target
	overrides clientcmd.ConfigOverrides // names in the kubeconfig, and who is impersonated
	namespace string
	output    string
	from      string

	client    *cluster.Client
	discovery *cluster.Discovery
}

// access declares the flags that name the server, the user and the namespace.
func (q *question) access(c *cobra.Command) {
	q.identity(c)
	c.Flags().StringVarP(&q.namespace, "namespace", "n", "", "namespace of the objects; that of the context by default")
}

// identity declares the flags that name the server and the user.
func (q *question) identity(c *cobra.Command) {
	f, o := c.Flags(), &q.overrides
	q.target.flags(f)
	f.Lookup("kubeconfig").Usage = "kubeconfig file; KUBECONFIG or ~/.kube/config by default"
	f.StringVar(&o.Context.Cluster, "cluster", "", "cluster of the kubeconfig to use instead of the context's")
	f.StringVar(&o.Context.AuthInfo, "user", "", "user of the kubeconfig to use instead of the context's")
	f.StringVar(&o.AuthInfo.Impersonate, "as", "", "user to impersonate")
	f.StringArrayVar(&o.AuthInfo.ImpersonateGroups, "as-group", nil, "group to impersonate; may be repeated")
}

// flags declares the flags of a command that answers in one of the formats.
func (q *question) flags(c *cobra.Command, formats ...string) {
	q.access(c)
	c.Flags().StringVarP(&q.output, "output", "o", "text", "format of the answer: "+strings.Join(formats, ", "))
	q.offerValues(c, formats)
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if q.from != "" && q.from != fromServer && q.from != fromLists {
			return errUsage{fmt.Errorf("--from %q is not server or lists", q.from)}
		}
		if err := (outputs{q.output}).check(formats...); err != nil {
			return err
		}
		return run(c, args)
	}
}

// explains declares what a command about at most most objects has, which a server may answer.
func (q *question) explains(c *cobra.Command, most int, formats ...string) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	q.flags(c, formats...)
	q.offerArguments(c, most)
	c.Flags().StringVar(&q.from, "from", "",
		"source of the answer: server (kubecascade only) or lists (of all objects); default: the server if it can answer")
	return c
}

// The values of --from.
const (
	fromServer = "server"
	fromLists  = "lists"
)

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
	rules, o := clientcmd.NewDefaultClientConfigLoadingRules(), &q.overrides
	rules.ExplicitPath = q.kubeconfig
	o.CurrentContext, o.AuthInfo.Token = q.context, q.token
	o.ClusterInfo.Server, o.ClusterInfo.InsecureSkipTLSVerify = q.server, q.insecure
	o.ClusterInfo.CertificateAuthority = q.authority
	load := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, o)
	c, err := load.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return errUsage{errors.New("no cluster: set KUBECONFIG, or use --kubeconfig or --server")}
	}
	if err == nil && q.namespace == "" {
		q.namespace, _, err = load.Namespace()
	}
	if err != nil {
		return errUnable{fmt.Errorf("kubeconfig: %w", err)}
	}
	c.UserAgent = "kubecascade"
	to, err := connect(c)
	if err != nil {
		return err
	}
	q.client = &cluster.Client{URL: to.URL, HTTP: to.HTTP}
	return nil
}

// style is how answers are shown on an output: with the width and the colours of a terminal, if it is one.
func style(w io.Writer) explain.Style {
	s := explain.Style{Now: time.Now()}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.Color = colored(os.Getenv)
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.Width = width
	}
	return s
}

// colored reports whether the environment lets a terminal have colours: an empty NO_COLOR is none (no-color.org).
func colored(env func(string) string) bool { return env("NO_COLOR") == "" && env("TERM") != "dumb" }

// print prints an answer as JSON, or its text.
func (q *question) print(c *cobra.Command, value any, text func(explain.Style) string) error {
	w := c.OutOrStdout()
	if q.output == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(value)
	}
	_, err := io.WriteString(w, text(style(w)))
	return err
}

func treeCommand() *cobra.Command {
	var q question
	return q.explains(&cobra.Command{
		Use:   "tree KIND/NAME",
		Short: "Show the owners and the dependents of an object, on any cluster",
		Long: `Show the owners of an object above it and its dependents below it, with their finalizers, deletions
that have begun, and invalid owner references: to owners that do not exist, are in another namespace,
or have another kind or name. References are resolved by UID. A kubecascade server answers at one
revision; of any other server, the metadata of all objects is listed. Nothing is written.`,
		RunE: func(c *cobra.Command, args []string) error {
			t, err := answer[explain.Tree](&q, c, &selection.Line{Args: args, One: true}, "tree")
			if err != nil {
				return err
			}
			text := t.Text
			if q.output != "text" {
				text = func(explain.Style) string { return t.Draw(q.output) }
			}
			return q.print(c, t, text)
		},
	}, 1, "text", "dot", "mermaid", "json")
}

func whyCommand() *cobra.Command {
	var q question
	return q.explains(&cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Say why an object or a namespace is still there, or is about to go, on any cluster",
		Long: `Say why an object is still there, or is about to be deleted: its finalizers, which component set
them and which one removes them; the dependents that block it, with their own reasons; the content and
the conditions of a namespace; API services that are not available; grace periods. For each reason, show
remedies as kubectl commands, the safest first. Of an object that does not exist, a kubecascade server
prints what removed it (see trail). It answers at one revision; of any other server, the metadata of all
objects is listed. Nothing is written.`,
		RunE: func(c *cobra.Command, args []string) error {
			line := &selection.Line{Args: args, One: true}
			r, err := answer[explain.Reason](&q, c, line, "why")
			if err != nil {
				return q.gone(c, line, err)
			}
			warnUnknown(c.ErrOrStderr(), r.Hidden)
			return q.print(c, r, r.Text)
		},
	}, 1, "text", "json")
}

// gone returns the error for an object that has no answer. If it, or its kind, does not exist, what removed it is
// printed first, as far as the server can tell.
func (q *question) gone(c *cobra.Command, line *selection.Line, err error) error {
	if q.discovery == nil || len(line.Objects) == 0 {
		return err
	}
	o := line.Objects[0]
	_, unserved := q.discovery.Resolve(o.Resource)
	if unserved == nil && !apierrors.IsNotFound(err) || q.printTrail(c, q.trailQuery(line.Objects, "")) != nil {
		return err
	}
	if unserved != nil {
		err = errUnable{fmt.Errorf("%s %q not found: %w", o.Resource, o.Name, unserved)}
	}
	return err
}

// answer answers a question about the one object of a line.
func answer[T any](q *question, c *cobra.Command, line *selection.Line, path string) (*T, error) {
	about := &cluster.Question{Path: path}
	if err := q.choose(c, line, about); err != nil {
		return nil, err
	}
	return ask[T](q, c, about)
}

// choose connects, and lets a question be about the objects of a line.
func (q *question) choose(c *cobra.Command, line *selection.Line, about *cluster.Question) error {
	err := line.Parse(c.InOrStdin())
	if err == nil {
		if err := q.connect(c.Context()); err != nil {
			return err
		}
		err = line.Ask(about, selection.Server{
			Discovery: q.discovery, Namespace: q.namespace, Explicit: c.Flags().Changed("namespace"),
		})
	}
	switch usage := (*selection.UsageError)(nil); {
	case errors.As(err, &usage):
		return errUsage{err}
	case err != nil:
		return errUnable{err}
	}
	return nil
}

// ask answers a question about objects: a kubecascade server does; of others, or with --from lists, lists are read.
func ask[T any](q *question, c *cobra.Command, ask *cluster.Question) (*T, error) {
	in := map[string]bool{} // a user may have rights in the namespace of the objects only
	for _, o := range ask.Objects {
		if o.Resource == "namespaces" {
			o.Namespace = o.Name
		}
		if o.Namespace != "" {
			in[o.Namespace] = true
		}
	}
	if len(in) == 1 {
		q.namespace = slices.Collect(maps.Keys(in))[0]
	}
	ask.Namespace = q.namespace
	if q.from != fromLists {
		answer := new(T)
		switch err := q.client.Ask(c.Context(), ask, answer); {
		case err == nil:
			return answer, nil
		case q.from == fromServer || !errors.Is(err, cluster.ErrNotAnswered):
			return nil, errUnable{err}
		}
	}
	return lists[T](q, c, ask)
}

// lists answers a question from lists of all objects, with the progress on a terminal.
func lists[T any](q *question, c *cobra.Command, ask *cluster.Question) (*T, error) {
	line := newProgressLine(c.ErrOrStderr())
	defer line.clear()
	answer, err := cluster.Answer(c.Context(), q.client, ask, cluster.Options{
		Namespace: q.namespace, Discovery: q.discovery, Now: time.Now,
		Progress: func(done, all, objects int) {
			line.print(fmt.Sprintf("%d of %d resources listed, %d objects", done, all, objects))
		},
	})
	if err != nil {
		return nil, errUnable{err}
	}
	return answer.(*T), nil
}

// warnUnknown names the resources whose objects are not known, with the reasons.
func warnUnknown(w io.Writer, hidden []explain.Hidden) {
	for _, h := range explain.Grouped(hidden) {
		fmt.Fprintf(w, "warning: %s: %s\n", h.Why, h.Resource)
	}
}

// errFound is the result of --exit-code if there is something to see.
var errFound = &child.ExitError{Code: 1}

func lintCommand() *cobra.Command {
	var q question
	var all, code bool
	c := &cobra.Command{
		Use:   "lint",
		Short: "Find problems of ownership and deletion, on any cluster",
		Long: `Find problems of ownership and deletion: owners that do not exist, are in another namespace, or have
another kind, name or uid than the reference says; objects that own each other; finalizers of unknown
components; objects and namespaces that are still terminating 5 minutes after the end of their grace
period. The metadata of all objects is listed; nothing is written.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := q.dial(); err != nil {
				return err
			}
			about := &cluster.Question{Path: "lint"}
			if !all {
				about.Namespace = q.namespace
			}
			found, err := lists[cluster.Findings](&q, c, about)
			if err != nil {
				return err
			}
			warnUnknown(c.ErrOrStderr(), found.Hidden)
			err = q.print(c, found.Items, func(s explain.Style) string {
				switch {
				case len(found.Items) == 0 && len(found.Hidden) > 0:
					return "no problems found in what is known\n"
				case len(found.Items) == 0:
					return "no problems found\n"
				}
				return explain.Report(found.Items, s)
			})
			if err == nil && code && len(found.Items) > 0 {
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
