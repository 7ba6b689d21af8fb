package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/child"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/selection"
)

// question has the flags and arguments of all commands that explain a cluster: the server, the objects, and the output.
type question struct {
	connection
	line      selection.Line
	ask       cluster.Question
	output    string
	from      string
	discovery *cluster.Discovery // connect sets it
}

// flags declares the flags of a command that answers in one of the formats.
func (q *question) flags(c *cobra.Command, formats ...string) {
	q.access(c)
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if q.from != "" && q.from != fromServer && q.from != fromLists {
			return errUsage{fmt.Errorf("--from %q is not server or lists", q.from)}
		}
		q.line.Args = args
		return run(c, args)
	}
	outputFlag(c, &q.output, formats...)
	offer(c, "namespace", q.offerNamespaces)
}

// explains declares the flags and arguments of a command about objects, whose question a kubecascade server may answer.
func (q *question) explains(c *cobra.Command, formats ...string) *cobra.Command {
	c.Args, c.ValidArgsFunction = cobra.ArbitraryArgs, q.offerObjects
	q.flags(c, formats...)
	c.Flags().StringVar(&q.from, "from", "",
		"source of the answer: server (kubecascade only) or lists (of all objects); default: the server if it can answer")
	return c
}

const fromServer, fromLists = "server", "lists" // the values of --from

// connect finds the server as kubectl does, and reads discovery.
func (q *question) connect(ctx context.Context) (err error) {
	if err := q.dial(); err != nil {
		return err
	}
	q.discovery, err = q.client.Discover(ctx)
	return unable(err)
}

// print prints an answer as JSON, or its text, after warnings about the resources whose objects are not known.
func (q *question) print(c *cobra.Command, value any, hidden []explain.Hidden, text func(explain.Style) string) error {
	for _, h := range explain.Grouped(hidden) {
		fmt.Fprintf(c.ErrOrStderr(), "warning: %s: %s\n", h.Why, h.Resource)
	}
	w := c.OutOrStdout()
	if q.output == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(value)
	}
	_, err := io.WriteString(w, text(style(w)))
	return err
}

// input calls read with the standard input, which may have no end. An error is one of usage, or of the context.
func input(c *cobra.Command, read func(io.Reader) error) error {
	done := make(chan error, 1)
	go func() { done <- read(c.InOrStdin()) }()
	select {
	case err := <-done:
		if err != nil {
			return errUsage{err}
		}
		return nil
	case <-c.Context().Done():
		return c.Context().Err()
	}
}

// answer connects, and answers a question about the objects of the line. A kubecascade server computes the answer. For
// another server, or with --from lists, answer reads lists.
func answer[T any](q *question, c *cobra.Command) (*T, error) {
	if err := input(c, q.line.Parse); err != nil {
		return nil, err
	}
	if err := q.connect(c.Context()); err != nil {
		return nil, err
	}
	if err := q.line.Ask(&q.ask, q.discovery, q.namespace, c.Flags().Changed("namespace")); err != nil {
		if _, usage := errors.AsType[*selection.UsageError](err); usage {
			return nil, errUsage{err}
		}
		return nil, errUnable{err}
	}
	in := sets.New[string]() // a user may have rights in the namespace of the objects only
	for _, o := range q.ask.Objects {
		if in.Insert(o.Namespace); o.Resource == "namespaces" {
			in.Insert(o.Name)
		}
	}
	if in.Delete(""); len(in) == 1 {
		q.namespace, _ = in.PopAny()
	}
	q.ask.Namespace = q.namespace
	if q.from != fromLists {
		answer := new(T)
		err := q.client.Ask(c.Context(), &q.ask, answer)
		if err == nil || q.from == fromServer || !errors.Is(err, cluster.ErrNotAnswered) {
			return answer, unable(err)
		}
	}
	return lists[T](q, c)
}

// lists answers a question from lists of all objects, with the progress on a terminal.
func lists[T any](q *question, c *cobra.Command) (*T, error) {
	line := newProgressLine(c.ErrOrStderr())
	defer line.clear()
	answer, err := cluster.Answer(c.Context(), q.client, &q.ask, cluster.Options{
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

// errFound is the error for --exit-code if something was found.
var errFound = &child.ExitError{Code: 1}
