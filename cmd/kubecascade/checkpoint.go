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

// checkpointing are "checkpoint" and "rollback".
func checkpointing() []*cobra.Command {
	var made, back question
	checkpoint := &cobra.Command{
		Use:   "checkpoint [NAME]",
		Short: "Keep the state of a kubecascade server for rollback",
		Long: `Keep the state of a kubecascade server with temporary data, such as that of "run" or
"serve --ephemeral", for "rollback". A checkpoint replaces an earlier one of the same name (default
"default"). There may be 16. Making one copies no objects.`,
		RunE: func(c *cobra.Command, args []string) error {
			return made.checkpoint(c, args, "checkpoints", func(d *checkpointDone) string {
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
			return back.checkpoint(c, args, "rollback", func(d *checkpointDone) string {
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

// checkpointDone is the server's answer.
type checkpointDone struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	// Changed is how many objects a rollback has written.
	Changed int `json:"changed"`
}

// errNoCheckpoints: the server can't go back to an earlier state.
var errNoCheckpoints = errors.New("the server makes no checkpoints: it is not kubecascade, or an older one")

// checkpoint sends a request with the name of a checkpoint, or without one for the server's default, and prints the
// answer.
func (q *question) checkpoint(
	c *cobra.Command, args []string, path string, text func(*checkpointDone) string,
) error {
	if err := (outputs{q.output}).check("text", "json"); err != nil {
		return err
	}
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
	done := &checkpointDone{}
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
