package main

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/trail"
)

// trailCommand is "trail".
func trailCommand() *cobra.Command {
	var q question
	var uid string
	c := &cobra.Command{
		Use:   "trail KIND/NAME",
		Short: "Say why an object is gone, on a kubecascade server",
		Long: `Say why an object is gone: which user or controller deleted it, at which revision and with which
propagation policy, through which owners, which finalizers held it, and who removed the last one. The
server keeps the last ` + strconv.Itoa(trail.Removals) + ` removals since it started, in memory. Only objects that you
may list are shown. Servers other than kubecascade keep no trail; use their audit log.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			query, err := q.trailQuery(c, args, uid)
			if err != nil {
				return err
			}
			if err := q.printTrail(c, query); err != nil {
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
	return q.print(c.OutOrStdout(), a, map[string]func() string{
		"text": func() string { return trailText(a, style(c.OutOrStdout())) },
	})
}

// printRemoval prints what removed the object of the arguments, if the server knows that.
func (q *question) printRemoval(c *cobra.Command, args []string) {
	if query, err := q.trailQuery(c, []string{strings.Join(args, "/")}, ""); err == nil {
		_ = q.printTrail(c, query) // the command reports that there is no such object in any case
	}
}

// trailQuery connects, and returns the parameters of the request.
func (q *question) trailQuery(c *cobra.Command, args []string, uid string) (url.Values, error) {
	query := url.Values{}
	if uid != "" {
		query.Set("uid", uid)
	}
	kind, name, both := strings.Cut(strings.Join(args, " "), "/")
	switch {
	case len(args) > 1:
		return nil, errUsage{fmt.Errorf("unexpected argument %q", args[1])}
	case len(args) == 0 && uid == "":
		return nil, errUsage{errors.New("an object is required: KIND/NAME, or --uid")}
	case len(args) == 1 && !both:
		return nil, errUsage{fmt.Errorf("%q is not KIND/NAME", args[0])}
	}
	if err := q.connect(c.Context()); err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return query, nil
	}
	query.Set("name", name)
	r, err := q.discovery.Resolve(kind)
	if err != nil { // the kind may be gone, too
		one, group, qualified := strings.Cut(kind, ".")
		query.Set("kind", one)
		if qualified {
			query.Set("group", group)
		}
		return query, nil
	}
	query.Set("resource", r.Plural)
	query.Set("group", r.Group)
	if r.Namespaced {
		query.Set("namespace", q.namespace)
	}
	return query, nil
}
