package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// completionTimeout is the time for which a shell waits for the server, and mostNames the number of names that it
// offers, from the first page of a list.
const completionTimeout, mostNames = 3 * time.Second, 500

// offerValues lets shells complete the values of the question's flags.
func (q *question) offerValues(c *cobra.Command, formats []string) {
	for name, values := range map[string]values{
		"namespace": q.offerNamespaces, "context": q.offerContexts, "output": fixed(formats...),
	} {
		if err := c.RegisterFlagCompletionFunc(name, one(values)); err != nil {
			panic(err) // a flag has two
		}
	}
}

// offerArguments lets shells complete the names of at most limit objects, with their types, as the server has them.
// Without an answer of the server there is nothing to offer.
func (q *question) offerArguments(c *cobra.Command, limit int) {
	c.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp
		if len(args) > 0 && strings.Contains(args[0], "/") && !strings.Contains(typed, "/") {
			directive |= cobra.ShellCompDirectiveNoSpace // a name follows
		}
		return q.offerObjects(c, args, typed, limit), directive
	}
}

// offer connects and calls f, which may send requests until completionTimeout.
func (q *question) offer(c *cobra.Command, f func(context.Context) []string) []string {
	ctx, cancel := context.WithTimeout(c.Context(), completionTimeout)
	defer cancel()
	if q.connect(ctx) != nil {
		return nil
	}
	return f(ctx)
}

// offerObjects returns types and names for KIND/NAME..., or KIND NAME....
func (q *question) offerObjects(c *cobra.Command, args []string, typed string, most int) []string {
	kind, _, slash := strings.Cut(typed, "/")
	before := kind + "/"
	apart := len(args) > 0 && !strings.Contains(args[0], "/")
	switch {
	case apart && (slash || len(args) > most), !apart && len(args) >= most:
		return nil
	case apart:
		kind, before = args[0], ""
	}
	return q.offer(c, func(ctx context.Context) (words []string) {
		if apart || slash {
			r, err := q.discovery.Resolve(kind)
			if err != nil {
				return nil
			}
			return slices.DeleteFunc(q.names(ctx, r, before), func(name string) bool { return slices.Contains(args, name) })
		}
		for _, r := range q.discovery.Resources {
			switch {
			case r.Listed && len(args) > 0: // of KIND/NAME
				words = append(words, r.Name()+"/")
			case r.Listed:
				words = append(words, r.Name())
			}
		}
		return words
	})
}

func (q *question) names(ctx context.Context, r *cluster.Resource, before string) (names []string) {
	of := cluster.Selector{Namespace: q.namespace, First: mostNames}
	if !r.Namespaced {
		of.Namespace = ""
	}
	err := q.client.List(ctx, r, of, func(o *explain.Object, _ []byte) { names = append(names, before+o.Name) })
	if err != nil {
		return nil
	}
	return names[:min(len(names), mostNames)] // a server may ignore the limit
}

func (q *question) offerNamespaces(c *cobra.Command, _ string) []string {
	return q.offer(c, func(ctx context.Context) []string {
		if r := q.discovery.Named("namespaces"); r != nil {
			return q.names(ctx, r, "")
		}
		return nil
	})
}

// offerContexts returns the contexts of the files that the commands use.
func (q *question) offerContexts(*cobra.Command, string) []string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = q.kubeconfig
	return contextsOf(rules)
}
