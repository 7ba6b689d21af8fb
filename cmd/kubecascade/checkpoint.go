package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func checkpointCommands() []*cobra.Command {
	var forCheckpoint, forRollback checkpointRequest
	checkpoint := &cobra.Command{
		Use:   "checkpoint [NAME]",
		Short: "Save the state of a kubecascade server for rollback",
		Long: `Save the state of a kubecascade server with temporary data, such as that of "run" or
"serve --ephemeral", for "rollback". A checkpoint replaces an earlier one of the same name (default
"default"). A server can have 16 checkpoints. A checkpoint does not copy the objects.`,
		RunE: func(c *cobra.Command, args []string) error {
			return forCheckpoint.checkpoint(c, args, "checkpoints", func(d *checkpointResult) string {
				return fmt.Sprintf("checkpoint %s at revision %d\n", d.Name, d.Revision)
			})
		},
	}
	rollback := &cobra.Command{
		Use:   "rollback [NAME]",
		Short: "Return to the state of a checkpoint of a kubecascade server",
		Long: `Return a kubecascade server to the state of the checkpoint NAME, or of the latest checkpoint.
The objects of the checkpoint are restored with their UIDs, and all others are removed. Objects that have
changed since the checkpoint get a new resourceVersion. Watches end with 410, so that clients list again.
The controllers are restarted. The checkpoint can be used again.`,
		RunE: func(c *cobra.Command, args []string) error {
			return forRollback.checkpoint(c, args, "rollback", func(d *checkpointResult) string {
				return fmt.Sprintf("back at checkpoint %s: revision %d, %d objects written\n", d.Name, d.Revision, d.Changed)
			})
		},
	}
	for c, q := range map[*cobra.Command]*checkpointRequest{checkpoint: &forCheckpoint, rollback: &forRollback} {
		c.Args, c.ValidArgsFunction = atMostOne("checkpoint"), cobra.NoFileCompletions
		q.identity(c)
		outputFlag(c, &q.output, "text", "json")
	}
	return []*cobra.Command{checkpoint, rollback}
}

// atMostOne rejects more than one argument.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return errUsage{fmt.Errorf("name one %s, not %d", what, len(args))}
		}
		return nil
	}
}

// checkpointRequest has the flags of both commands: the server, and the output.
type checkpointRequest struct {
	connection
	output string
}

// checkpointResult is the body of the server's response.
type checkpointResult struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	// Changed is the number of objects that a rollback has written.
	Changed int `json:"changed"`
}

// errNoCheckpoints: the server has no API for checkpoints.
var errNoCheckpoints = errors.New("the server does not support checkpoints: it is not kubecascade, or an older version")

// checkpoint sends a POST to path with the checkpoint's name, if args has one, and prints the response.
func (q *checkpointRequest) checkpoint(
	c *cobra.Command, args []string, path string, text func(*checkpointResult) string,
) error {
	if err := q.dial(); err != nil {
		return err
	}
	query := url.Values{}
	if len(args) > 0 {
		query["name"] = args
	}
	req, err := q.client.Own(c.Context(), http.MethodPost, path, query)
	if err != nil {
		return err
	}
	body, err := q.client.Do(req)
	if apierrors.ReasonForError(err) == "" && (apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)) {
		err = errNoCheckpoints
	}
	done := &checkpointResult{}
	if err == nil && (json.Unmarshal(body, done) != nil || done.Revision == 0) {
		err = fmt.Errorf("%s did not answer as kubecascade does", q.client.URL)
	}
	if err != nil {
		return errUnable{err}
	}
	if q.output == "json" {
		return json.NewEncoder(c.OutOrStdout()).Encode(done)
	}
	_, err = io.WriteString(c.OutOrStdout(), text(done))
	return err
}
