package main

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
)

func trailCommand() *cobra.Command {
	var q question
	q.line.One = true
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
			if len(args) > 0 || uid == "" {
				if err := input(c, q.line.Parse); err != nil {
					return err
				}
			}
			if err := q.connect(c.Context()); err != nil {
				return err
			}
			return unable(q.printTrail(c, uid))
		},
	}
	q.flags(c, "text", "json")
	c.Flags().StringVar(&uid, "uid", "", "uid of the object; KIND/NAME may then be omitted")
	return c
}

// printTrail prints why the object of the line, if there is one, or the object with the uid is gone.
func (q *question) printTrail(c *cobra.Command, uid string) error {
	query := url.Values{"uid": {uid}}
	for _, o := range q.line.Objects {
		kind, group, qualified := strings.Cut(o.Resource, ".") // the kind may be gone, too
		if r, err := q.discovery.Resolve(o.Resource); err == nil {
			kind, group, qualified = r.Plural, r.Group, true
		}
		query = url.Values{"kind": {kind}, "namespace": {q.namespace}, "name": {o.Name}, "uid": {uid}}
		if qualified {
			query.Set("group", group)
		}
	}
	a, err := q.client.Trail(c.Context(), query)
	if err != nil {
		return err
	}
	return q.print(c, a, nil, func(s explain.Style) string { return explain.TrailText(a, s) })
}
