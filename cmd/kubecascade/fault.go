package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/internal/backup"
)

func faultCommand() *cobra.Command {
	add := faultSub("add FILE", "Add a plan", oneFile, func(c *cobra.Command, args []string, ask asking) error {
		var plan kubecascade.FaultPlan
		err := readPlan(c, args[0], &plan)
		if err != nil {
			return err
		}
		body, _ := json.Marshal(plan) // it was decoded from JSON
		var added struct{ Plan, Rules int }
		if err = ask(http.MethodPost, nil, body, &added); err == nil {
			fmt.Fprintf(c.OutOrStdout(), "plan %d with %s\n", added.Plan, backup.Count(added.Rules, "rule"))
		}
		return err
	})
	add.ValidArgsFunction = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	var fired bool
	list := faultSub("list", "List the rules of all plans, with the number of requests that each has matched",
		noArguments, func(c *cobra.Command, _ []string, ask asking) error {
			var r kubecascade.FaultReport
			if err := ask(http.MethodGet, nil, nil, &r); err != nil {
				return err
			}
			text := rulesText(&r)
			if fired {
				text = firedText(&r)
			}
			_, err := io.WriteString(c.OutOrStdout(), text)
			return err
		})
	list.Flags().BoolVar(&fired, "fired", false, "list the last injected faults instead, with time and request")
	remove := faultSub("remove [PLAN]", "Remove a plan, or all plans; held events are then sent",
		atMostOne("plan"), func(c *cobra.Command, args []string, ask asking) error {
			var done struct{ Removed int }
			err := ask(http.MethodDelete, args, nil, &done)
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s removed\n", backup.Count(done.Removed, "plan"))
			}
			return err
		})
	return parent(&cobra.Command{
		Use: "fault", Short: "Inject faults into the requests of a kubecascade server",
		Long: `Inject faults into the requests of a kubecascade server: errors, lost answers, late events, stale reads.
The server needs the flag --enable-faults, and the user the verbs post, get and delete for the path
/kubecascade/v1/faults. Plans are in YAML or JSON, - reads standard input. They are lost when the server ends.`,
	}, "use add, list or remove", add, list, remove)
}

// asking sends a request about plans, with the number of a plan if there is one, and decodes the response.
type asking func(method string, plan []string, body []byte, into any) error

// faultSub returns a subcommand.
func faultSub(use, short string, arguments cobra.PositionalArgs, run func(*cobra.Command, []string, asking) error,
) *cobra.Command {
	var to connection
	c := &cobra.Command{Use: use, Short: short, Args: arguments}
	c.RunE = func(c *cobra.Command, args []string) error {
		return run(c, args, func(method string, plan []string, body []byte, into any) error {
			if err := to.dial(); err != nil {
				return err
			}
			req, err := to.client.Own(c.Context(), method, "faults", url.Values{"plan": plan})
			if err != nil {
				return err
			}
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			data, err := to.client.Do(req)
			if apierrors.IsNotFound(err) {
				err = errors.New("the server does not inject faults: it runs without --enable-faults, or is not kubecascade")
			}
			return unable(cmp.Or(err, json.Unmarshal(data, into)))
		})
	}
	to.identity(c)
	return c
}

// faultFlags are the flags of run for faults.
type faultFlags struct {
	file   string
	plan   kubecascade.FaultPlan // of the file
	seed   uint64
	budget time.Duration
}

func (f *faultFlags) group() group {
	s := pflag.NewFlagSet("Faults", pflag.ContinueOnError)
	s.StringVar(&f.file, "faults", "",
		"`file` with a plan of faults to inject; a summary is printed to standard error at the end")
	s.Uint64Var(&f.seed, "perturb", 0,
		"`seed` of a search: run COMMAND twice, then again with one fault at a time, in random order, and report the "+
			"faults that change its exit code or the objects that it leaves behind; with --faults, try only that plan")
	s.DurationVar(&f.budget, "budget", 10*time.Minute, "time after which --perturb begins no further run")
	return group{s.Name(), s}
}

// readPlan reads and validates a plan. FILE - is the standard input.
func readPlan(c *cobra.Command, file string, p *kubecascade.FaultPlan) error {
	return input(c, func(stdin io.Reader) error {
		document, err := os.ReadFile(file)
		if file == "-" {
			document, err = io.ReadAll(stdin)
		}
		if err != nil {
			return err
		}
		if *p, err = kubecascade.ParseFaults(document); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
		return err
	})
}

// rulesText describes the rules in force, one a line.
func rulesText(r *kubecascade.FaultReport) string {
	var b strings.Builder
	for _, r := range r.Rules {
		match, _ := json.Marshal(r.Match) // only strings
		fmt.Fprintf(&b, "%s %s: injected into %d of %d requests\n", r.Where(), match, r.Fired, r.Matched)
	}
	return b.String()
}

// firedText describes the injected faults, one a line.
func firedText(r *kubecascade.FaultReport) string {
	var b strings.Builder
	for _, f := range r.Fired {
		q := f.Request
		line := fmt.Sprintf("%s plan %d rules[%d] %s: %s %s by %s (%s)", f.Time.Format("15:04:05.000"), f.Plan, f.Rule,
			f.Effect, q.Verb, path.Join(q.Namespace, q.Resource, q.Name, q.Subresource), q.User, q.UserAgent)
		b.WriteString(backup.Visible(line) + "\n")
	}
	return b.String()
}
