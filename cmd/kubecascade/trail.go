package main

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/selection"
)

func trailCommand() *cobra.Command {
	var q question
	var uid string
	c := &cobra.Command{
		Use:   "trail KIND/NAME",
		Short: "Say why an object is gone, on a kubecascade server",
		Long: `Say why an object is gone: which user or controller deleted it, at which revision and with which
propagation policy, through which owners, which finalizers held it, and who removed the last one. The
server keeps the last 100000 removals since it started, in memory. Only objects that you
may list are shown. Servers other than kubecascade keep no trail; use their audit log.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			line := selection.Line{Args: args, One: true}
			if len(args) > 0 || uid == "" {
				if err := line.Parse(nil); err != nil {
					return errUsage{err}
				}
			}
			if err := q.connect(c.Context()); err != nil {
				return err
			}
			if err := q.printTrail(c, q.trailQuery(line.Objects, uid)); err != nil {
				return errUnable{err}
			}
			return nil
		},
	}
	q.flags(c, "text", "json")
	c.Flags().StringVar(&uid, "uid", "", "uid of the object; KIND/NAME may then be omitted")
	return c
}

// printTrail prints the server's answer to a query.
func (q *question) printTrail(c *cobra.Command, query url.Values) error {
	a, err := q.client.Trail(c.Context(), query)
	if err != nil {
		return err
	}
	return q.print(c, a, func(s explain.Style) string { return explain.TrailText(a, s) })
}

// trailQuery returns the parameters of the request for the trail of at most one object, or of a uid.
func (q *question) trailQuery(objects []selection.Object, uid string) url.Values {
	query := url.Values{"uid": {uid}}
	for _, o := range objects {
		kind, group, qualified := strings.Cut(o.Resource, ".") // the kind may be gone, too
		if r, err := q.discovery.Resolve(o.Resource); err == nil {
			kind, group, qualified = r.Plural, r.Group, true
		}
		query.Set("kind", kind)
		query.Set("namespace", q.namespace)
		query.Set("name", o.Name)
		if qualified {
			query.Set("group", group)
		}
	}
	return query
}
