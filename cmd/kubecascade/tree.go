package main

import (
	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
)

func treeCommand() *cobra.Command {
	var q question
	q.ask.Path, q.line.One = "tree", true
	return q.explains(&cobra.Command{
		Use:   "tree KIND/NAME",
		Short: "Show the owners and the dependents of an object, on any cluster",
		Long: `Show the owners of an object above it and its dependents below it, with their finalizers, deletions
that have begun, and invalid owner references: to owners that do not exist, are in another namespace,
or have another kind or name. References are resolved by UID. A kubecascade server answers at one
revision. For any other server, the metadata of all objects is listed. Nothing is written.`,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := answer[explain.Tree](&q, c)
			if err != nil {
				return err
			}
			if q.output == "text" {
				return q.print(c, t, nil, t.Text) // it names what is not known
			}
			return q.print(c, t, t.Hidden, func(explain.Style) string { return t.Draw(q.output) })
		},
	}, "text", "dot", "mermaid", "json")
}
