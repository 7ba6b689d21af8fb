package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// completionTimeout is the time for which a shell waits for the server, and mostNames the number of names that it
// offers, from the first page of a list.
const completionTimeout, mostNames = 3 * time.Second, 500

// connected connects and calls f, which may send requests until completionTimeout.
func (q *question) connected(c *cobra.Command, f func(context.Context) []string) []string {
	ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
	defer cancel()
	if q.connect(ctx) != nil {
		return nil
	}
	return f(ctx)
}

// offerObjects offers types and names for KIND/NAME..., or KIND NAME..., as the server has them; nothing if it does not
// answer.
func (q *question) offerObjects(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	kind, _, slash := strings.Cut(typed, "/")
	apart := len(args) > 0 && !strings.Contains(args[0], "/")
	before, after, given, directive := kind+"/", "", len(args), cobra.ShellCompDirectiveNoFileComp
	switch {
	case apart:
		kind, before, given = args[0], "", given-1
	case len(args) > 0 && !slash: // a name follows
		after, directive = "/", directive|cobra.ShellCompDirectiveNoSpace
	}
	if apart && slash || q.line.One && given > 0 {
		return nil, directive
	}
	return q.connected(c, func(ctx context.Context) (words []string) {
		if apart || slash {
			return slices.DeleteFunc(q.names(ctx, kind, before), func(name string) bool { return slices.Contains(args, name) })
		}
		for _, r := range q.discovery.Resources {
			if r.Listed {
				words = append(words, r.Name()+after)
			}
		}
		return words
	}), directive
}

// names returns the names of a kind's objects in the namespace, each after a prefix.
func (q *question) names(ctx context.Context, kind, before string) (names []string) {
	r, err := q.discovery.Resolve(kind)
	if err != nil {
		return nil
	}
	of := cluster.Selector{Namespace: q.namespace, First: mostNames}
	if !r.Namespaced {
		of.Namespace = ""
	}
	err = q.client.List(ctx, r, of, func(o *explain.Object, _ []byte) { names = append(names, before+o.Name) })
	if err != nil {
		return nil
	}
	return names[:min(len(names), mostNames)] // a server may ignore the limit
}

func (q *question) offerNamespaces(c *cobra.Command, _ string) []string {
	return q.connected(c, func(ctx context.Context) []string { return q.names(ctx, "namespaces", "") })
}
