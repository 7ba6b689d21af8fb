package main

import (
	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/selection"
)

func treeCommand() *cobra.Command {
	var q question
	return q.explains(&cobra.Command{
		Use:   "tree KIND/NAME",
		Short: "Show the owners and the dependents of an object, on any cluster",
		Long: `Show the owners of an object above it and its dependents below it, with their finalizers, deletions
that have begun, and invalid owner references: to owners that do not exist, are in another namespace,
or have another kind or name. References are resolved by UID. A kubecascade server answers at one
revision. For any other server, the metadata of all objects is listed. Nothing is written.`,
		RunE: func(c *cobra.Command, args []string) error {
			t, err := answer[explain.Tree](&q, c, &selection.Line{Args: args, One: true}, &cluster.Question{Path: "tree"})
			if err != nil {
				return err
			}
			text := t.Text
			if q.output != "text" {
				warnUnknown(c.ErrOrStderr(), t.Hidden)
				text = func(explain.Style) string { return t.Draw(q.output) }
			}
			return q.print(c, t, text)
		},
	}, 1, "text", "dot", "mermaid", "json")
}
