package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/child"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/selection"
)

// question has the flags of all commands that explain a cluster: the server, and the output.
type question struct {
	connection
	output    string
	from      string
	discovery *cluster.Discovery // connect sets it
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

// explains declares the flags and arguments of a command about at most limit objects, whose question a kubecascade
// server may answer.
func (q *question) explains(c *cobra.Command, limit int, formats ...string) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	q.flags(c, formats...)
	q.offerArguments(c, limit)
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
	if q.discovery, err = q.client.Discover(ctx); err != nil {
		return errUnable{err}
	}
	return nil
}

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

// answer connects, and answers a question about the objects of a line. A kubecascade server computes the answer. For
// another server, or with --from lists, answer reads lists.
func answer[T any](q *question, c *cobra.Command, line *selection.Line, ask *cluster.Question) (*T, error) {
	if err := input(c, line.Parse); err != nil {
		return nil, err
	}
	if err := q.connect(c.Context()); err != nil {
		return nil, err
	}
	err := line.Ask(ask, q.discovery, q.namespace, c.Flags().Changed("namespace"))
	switch usage := (*selection.UsageError)(nil); {
	case errors.As(err, &usage):
		return nil, errUsage{err}
	case err != nil:
		return nil, errUnable{err}
	}
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

// errFound is the error for --exit-code if something was found.
var errFound = &child.ExitError{Code: 1}
