package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/internal/cluster"
)

// checkpointing are "checkpoint" and "rollback".
func checkpointing() []*cobra.Command {
	var made, back question
	checkpoint := &cobra.Command{
		Use:   "checkpoint [NAME]",
		Short: "Remember the state of a kubecascade server, for rollback",
		Long: `Remember the state of a kubecascade server with temporary data, such as one of "run" or of
"serve --ephemeral", for "rollback". A checkpoint replaces an earlier one with its name ("default" without
NAME); there may be 16. It copies nothing.`,
		RunE: func(c *cobra.Command, args []string) error {
			return made.checkpoint(c, args, (*cluster.Client).Checkpoint, func(d *cluster.Checkpoint) string {
				return fmt.Sprintf("checkpoint %s at revision %d\n", d.Name, d.Revision)
			})
		},
	}
	rollback := &cobra.Command{
		Use:   "rollback [NAME]",
		Short: "Return to the state of a checkpoint of a kubecascade server",
		Long: `Return to the state of a checkpoint of a kubecascade server, without NAME of the one that was made last.
All objects are those of the checkpoint, with their uids. What was changed since gets a new resourceVersion;
watches end with 410, so that clients list again; the controllers start anew. The checkpoint can be used again.`,
		RunE: func(c *cobra.Command, args []string) error {
			return back.checkpoint(c, args, (*cluster.Client).Rollback, func(d *cluster.Checkpoint) string {
				return fmt.Sprintf("back at checkpoint %s: revision %d, %d objects written\n", d.Name, d.Revision, d.Changed)
			})
		},
	}
	for c, q := range map[*cobra.Command]*question{checkpoint: &made, rollback: &back} {
		c.Args, c.ValidArgsFunction = cobra.MaximumNArgs(1), cobra.NoFileCompletions
		q.identity(c)
		c.Flags().StringVarP(&q.output, "output", "o", "text", "format of the answer: text, json")
	}
	return []*cobra.Command{checkpoint, rollback}
}

// checkpoint sends a request with the name of a checkpoint, and prints the answer.
func (q *question) checkpoint(
	c *cobra.Command, args []string, send func(*cluster.Client, context.Context, string) (*cluster.Checkpoint, error),
	text func(*cluster.Checkpoint) string,
) error {
	if err := (outputs{q.output}).check("text", "json"); err != nil {
		return err
	}
	if err := q.dial(); err != nil {
		return err
	}
	done, err := send(q.client, c.Context(), append(args, "")[0])
	if err != nil {
		return errUnable{err}
	}
	if q.output == "json" {
		return json.NewEncoder(c.OutOrStdout()).Encode(done)
	}
	_, err = io.WriteString(c.OutOrStdout(), text(done))
	return err
}
