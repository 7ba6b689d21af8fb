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
		Long: `Remember the state of a kubecascade server with temporary data, such as that of "run" or
"serve --ephemeral", for "rollback". A checkpoint replaces an earlier one of the same name (default
"default"). There may be 16. Making one copies no objects.`,
		RunE: func(c *cobra.Command, args []string) error {
			return made.checkpoint(c, args, (*cluster.Client).Checkpoint, func(d *cluster.Checkpoint) string {
				return fmt.Sprintf("checkpoint %s at revision %d\n", d.Name, d.Revision)
			})
		},
	}
	rollback := &cobra.Command{
		Use:   "rollback [NAME]",
		Short: "Return to the state of a checkpoint of a kubecascade server",
		Long: `Return a kubecascade server to the state of a checkpoint: the one with NAME, or else the latest one.
All objects are those of the checkpoint, with their UIDs. Objects that have changed since get a new
resourceVersion; watches end with 410, so that clients list again; the controllers are restarted. The
checkpoint can be used again.`,
		RunE: func(c *cobra.Command, args []string) error {
			return back.checkpoint(c, args, (*cluster.Client).Rollback, func(d *cluster.Checkpoint) string {
				return fmt.Sprintf("back at checkpoint %s: revision %d, %d objects written\n", d.Name, d.Revision, d.Changed)
			})
		},
	}
	for c, q := range map[*cobra.Command]*question{checkpoint: &made, rollback: &back} {
		c.Args, c.ValidArgsFunction = oneName, cobra.NoFileCompletions
		q.identity(c)
		c.Flags().StringVarP(&q.output, "output", "o", "text", "format of the answer: text, json")
	}
	return []*cobra.Command{checkpoint, rollback}
}

// oneName is the error of arguments that are more than one name.
func oneName(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return errUsage{fmt.Errorf("name one checkpoint, not %d", len(args))}
	}
	return nil
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
