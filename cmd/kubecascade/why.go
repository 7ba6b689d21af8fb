package main

import (
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/selection"
)

func whyCommand() *cobra.Command {
	var q question
	return q.explains(&cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Say why an object is still there, or is about to go, on any cluster",
		Long: `Say why an object is still there, or is about to be deleted: its finalizers, which component set
them and which one removes them; the dependents that block it, with their own reasons; the content and
the conditions of a namespace; API services that are not available; grace periods. For each reason, show
remedies as kubectl commands, the safest first. If the object does not exist, show what removed it (see
trail; only on a kubecascade server). A kubecascade server answers at one revision. For any other server,
the metadata of all objects is listed. Nothing is written.`,
		RunE: func(c *cobra.Command, args []string) error {
			line := &selection.Line{Args: args, One: true}
			r, err := answer[explain.Reason](&q, c, line, &cluster.Question{Path: "why"})
			if err != nil {
				return q.gone(c, line, err)
			}
			warnUnknown(c.ErrOrStderr(), r.Hidden)
			return q.print(c, r, r.Text)
		},
	}, 1, "text", "json")
}

// gone returns the error for an object that has no answer. If the object or its kind does not exist, gone first prints
// what removed it, if the server knows that.
func (q *question) gone(c *cobra.Command, line *selection.Line, err error) error {
	if q.discovery == nil || len(line.Objects) == 0 {
		return err
	}
	o := line.Objects[0]
	_, unserved := q.discovery.Resolve(o.Resource)
	if unserved == nil && !apierrors.IsNotFound(err) || q.printTrail(c, q.trailQuery(line.Objects, "")) != nil {
		return err
	}
	if unserved != nil {
		err = errUnable{fmt.Errorf("%s %q not found: %w", o.Resource, o.Name, unserved)}
	}
	return err
}
