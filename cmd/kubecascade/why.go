package main

import (
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/gc/explain"
)

func whyCommand() *cobra.Command {
	var q question
	q.ask.Path, q.line.One = "why", true
	return q.explains(&cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Say why an object is still there, or is about to go, on any cluster",
		Long: `Say why an object is still there, or is about to be deleted: its finalizers, which component set
them and which one removes them; the dependents that block it, with their own reasons; the content and
the conditions of a namespace; API services that are not available; grace periods. For each reason, show
remedies as kubectl commands, the safest first. If the object does not exist, show what removed it (see
trail; only on a kubecascade server). A kubecascade server answers at one revision. For any other server,
the metadata of all objects is listed. Nothing is written.`,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := answer[explain.Reason](&q, c)
			if err != nil {
				return q.gone(c, err)
			}
			return q.print(c, r, r.Hidden, r.Text)
		},
	}, "text", "json")
}

// gone returns the error for an object that has no answer. If the object or its kind does not exist, gone first prints
// what removed it, if the server knows that.
func (q *question) gone(c *cobra.Command, err error) error {
	if q.discovery == nil || !apierrors.IsNotFound(err) || q.printTrail(c, "") != nil {
		return err
	}
	o := q.line.Objects[0]
	if _, unserved := q.discovery.Resolve(o.Resource); unserved != nil {
		err = errUnable{fmt.Errorf("%s %q not found: %w", o.Resource, o.Name, unserved)}
	}
	return err
}
