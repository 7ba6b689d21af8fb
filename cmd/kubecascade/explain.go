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
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/child"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/selection"
)

// question is what the commands that explain a cluster have in common: the server, as kubectl finds it, and the output.
type question struct {
	target
	namespace string
	output    string
	from      string
	// cluster and user are names in the kubeconfig; as and groups are impersonated.
	cluster, user, as string
	groups            []string

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
	f := c.Flags()
	q.target.flags(f)
	f.Lookup("kubeconfig").Usage = "kubeconfig file; KUBECONFIG or ~/.kube/config by default"
	f.StringVar(&q.cluster, "cluster", "", "cluster of the kubeconfig to use instead of the context's")
	f.StringVar(&q.user, "user", "", "user of the kubeconfig to use instead of the context's")
	f.StringVar(&q.as, "as", "", "user to impersonate")
	f.StringArrayVar(&q.groups, "as-group", nil, "group to impersonate; may be repeated")
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
	to, err := connect(c)
	if err != nil {
		return err
	}
	q.client = &cluster.Client{URL: to.URL, HTTP: to.HTTP}
	return nil
}

// options are those of reading lists, with progress on a terminal.
func (q *question) options(line *progressLine) cluster.Options {
	return cluster.Options{
		Namespace: q.namespace,
		Progress: func(done, all, objects int) {
			line.print(fmt.Sprintf("%d of %d resources listed, %d objects", done, all, objects))
		},
	}
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
that have begun, and invalid owner references: to owners that do not exist, are in another namespace,
or have another kind or name. References are resolved by UID. A kubecascade server answers at one
revision; of any other server, the metadata of all objects is listed. Nothing is written.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			t, err := answer[explain.Tree](&q, c, args, "tree")
			if err != nil {
				return err
			}
			return q.print(c.OutOrStdout(), t, map[string]func() string{
				"text": func() string { return t.Text(style(c.OutOrStdout())) }, "dot": t.DOT, "mermaid": t.Mermaid,
			})
		},
	}
	q.flags(c, "text", "dot", "mermaid", "json")
	q.offerArguments(c, 1)
	q.fromFlag(c)
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
the conditions of a namespace; API services that are not available; grace periods. For each reason, show
remedies as kubectl commands, the safest first. Of an object that does not exist, a kubecascade server
says what removed it (see trail). It answers at one revision; of any other server, the metadata of all
objects is listed. Nothing is written.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := answer[explain.Reason](&q, c, args, "why")
			if errors.Is(err, selection.ErrNotFound) {
				q.printRemoval(c, args)
			}
			if err != nil {
				return err
			}
			warnUnknown(c.ErrOrStderr(), r.Hidden)
			return q.print(c.OutOrStdout(), r, map[string]func() string{
				"text": func() string { return r.Text(style(c.OutOrStdout())) },
			})
		},
	}
	q.flags(c, "text", "json")
	q.offerArguments(c, 1)
	q.fromFlag(c)
	return c
}

// answer answers a question about the one object of the arguments.
func answer[T any](q *question, c *cobra.Command, args []string, path string) (*T, error) {
	choice, err := selection.Line{Args: args}.Parse(c.InOrStdin())
	if err == nil {
		err = choice.One()
	}
	if err != nil {
		return nil, chosen(err)
	}
	if err := q.connect(c.Context()); err != nil {
		return nil, err
	}
	keys, err := choice.Keys(c.Context(), selection.Server{Discovery: q.discovery, Namespace: q.namespace})
	if err != nil {
		return nil, chosen(err)
	}
	return ask[T](q, c, &cluster.Question{Path: path}, keys)
}

// ask answers a question about objects: a kubecascade server does; of another server, or with --from lists, the lists are
// read.
func ask[T any](q *question, c *cobra.Command, ask *cluster.Question, keys []graph.Key) (*T, error) {
	q.namespace = selection.Concerned(keys, q.namespace)
	ask.Namespace = q.namespace
	for _, k := range keys {
		ask.Objects = append(ask.Objects, cluster.Named{Resource: k.Collection, Namespace: k.Namespace, Name: k.Name})
	}
	var answer any = new(T)
	err := cluster.ErrNotAnswered
	if q.from != fromLists {
		err = q.client.Ask(c.Context(), ask, answer)
	}
	if errors.Is(err, cluster.ErrNotAnswered) && q.from != fromServer {
		line := newProgressLine(c.ErrOrStderr())
		defer line.clear()
		answer, err = cluster.Answer(c.Context(), q.client, q.discovery, ask, q.options(line))
	}
	if err != nil {
		return nil, errUnable{selection.Absent(keys, err)}
	}
	return answer.(*T), nil
}

// chosen is an error of package selection with its exit code.
func chosen(err error) error {
	var usage *selection.UsageError
	if errors.As(err, &usage) {
		return errUsage{usage.Err}
	}
	return errUnable{err}
}

// The values of --from.
const (
	fromServer = "server"
	fromLists  = "lists"
)

// fromFlag adds the flag --from to a command that a server may answer.
func (q *question) fromFlag(c *cobra.Command) {
	c.Flags().StringVar(&q.from, "from", "",
		"source of the answer: server (kubecascade only) or lists (of all objects); default: the server if it can answer")
}

// warnUnknown names the resources whose objects are not known, with the reasons.
func warnUnknown(w io.Writer, hidden []explain.Hidden) {
	for _, h := range explain.Grouped(hidden) {
		fmt.Fprintf(w, "warning: %s: %s\n", h.Why, h.Resource)
	}
}

// errFound is the result of --exit-code if there is something to see.
var errFound = &child.ExitError{Code: 1}

// lintCommand is "lint".
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
			if err := q.connect(c.Context()); err != nil {
				return err
			}
			line := newProgressLine(c.ErrOrStderr())
			got, err := cluster.Read(c.Context(), q.client, q.discovery, q.options(line))
			line.clear()
			if err != nil {
				return errUnable{err}
			}
			if all {
				q.namespace = ""
			}
			found := got.Lint(q.namespace)
			hidden := got.Hidden()
			warnUnknown(c.ErrOrStderr(), hidden)
			if found == nil {
				found = []explain.Finding{}
			}
			err = q.print(c.OutOrStdout(), found, map[string]func() string{"text": func() string {
				switch {
				case len(found) == 0 && len(hidden) > 0:
					return "no problems found in what is known\n"
				case len(found) == 0:
					return "no problems found\n"
				}
				return explain.Report(found, style(c.OutOrStdout()))
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
