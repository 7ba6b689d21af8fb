package main

import (
	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

func lintCommand() *cobra.Command {
	var q question
	q.ask.Path = "lint"
	var all, code bool
	c := &cobra.Command{
		Use:   "lint",
		Short: "Find problems of ownership and deletion, on any cluster",
		Long: `Find problems of ownership and deletion: owners that do not exist, are in another namespace, or have
another kind, name or apiVersion than the reference; objects that own each other; finalizers of unknown
components; objects and namespaces that are still terminating 5 minutes after the end of their grace
period. The metadata of all objects is listed; nothing is written.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := q.dial(); err != nil {
				return err
			}
			if !all {
				q.ask.Namespace = q.namespace
			}
			found, err := lists[cluster.Findings](&q, c)
			if err != nil {
				return err
			}
			err = q.print(c, found.Items, found.Hidden, func(s explain.Style) string {
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
