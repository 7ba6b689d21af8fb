package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// cascades are the values of --cascade, as kubectl has them, with the propagation policy of each.
var cascades = map[string]string{"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}

// previewCommand returns the command "preview", which has the subcommand "delete".
func previewCommand() *cobra.Command {
	return parent(&cobra.Command{Use: "preview", Short: "Show what a deletion would do, on any cluster"},
		"only deletions are previewed", previewDeleteCommand())
}

// previewDelete has the flags of "preview delete".
type previewDelete struct {
	question
	cascade              string
	grace                int64
	now, force, exitCode bool
}

func previewDeleteCommand() *cobra.Command {
	p := &previewDelete{}
	p.ask.Path = "preview"
	c := p.explains(&cobra.Command{
		Use:   "delete (KIND/NAME... | KIND (-l SELECTOR | --all) | -f FILE)",
		Short: "Show what a deletion would delete, orphan and leave, on any cluster",
		Long: `Show what "kubectl delete" with the same arguments would do, in the order in which it would happen:
what is deleted, what loses an owner and stays, what stays terminating and by which finalizer, and which
owner references would then be dangling. A kubecascade server computes it at one revision; for any other server
it is computed from the metadata of all objects. Nothing is written, and no dry run is sent. The preview
assumes that the garbage collector, the other controllers and the kubelets work, and that admission
denies nothing. It does not show what controllers would create again.`,
		RunE: p.run,
	}, "text", "json")
	f := c.Flags()
	f.StringVar(&p.cascade, "cascade", "background", "background, foreground or orphan")
	f.Int64Var(&p.grace, "grace-period", -1,
		"grace period in seconds; a negative value means the object's own; 0 means 1 without --force")
	f.BoolVar(&p.now, "now", false, "use a grace period of 1 second")
	f.BoolVar(&p.force, "force", false, "use a grace period of 0")
	f.StringSliceVarP(&p.line.Files, "filename", "f", nil,
		"files and directories with the objects to delete, in YAML or JSON; - for standard input")
	f.BoolVarP(&p.line.Recursive, "recursive", "R", false, "process the directories of --filename recursively")
	f.BoolVar(&p.line.All, "all", false, "select all objects of the KIND in the namespace")
	f.BoolVarP(&p.line.Everywhere, "all-namespaces", "A", false, "with --selector or --all: in all namespaces")
	f.BoolVar(&p.ask.IgnoreNotFound, "ignore-not-found", false, "ignore objects that do not exist, instead of failing")
	f.StringVarP(&p.line.Selector, "selector", "l", "", "label selector of the objects to delete")
	f.BoolVar(&p.exitCode, "exit-code", false, "exit with 1 if objects would stay terminating, or references dangling")
	return c
}

func (p *previewDelete) run(c *cobra.Command, _ []string) error {
	if err := p.setOptions(); err != nil {
		return err
	}
	preview, err := answer[explain.Preview](&p.question, c)
	if err != nil {
		return err
	}
	for _, k := range preview.Absent {
		fmt.Fprintln(c.ErrOrStderr(), "warning:", cluster.NotFound(k))
	}
	if p.ask.Selector != nil && preview.Selected == 0 {
		none := p.line.None(&p.ask)
		if !p.ask.IgnoreNotFound {
			return errUnable{none}
		}
		fmt.Fprintln(c.ErrOrStderr(), "warning:", none)
	}
	err = p.print(c, preview, nil, preview.Text)
	if err == nil && p.exitCode && len(preview.Left)+len(preview.Dangling) > 0 {
		return errFound
	}
	return err
}

// setOptions sets the options of the requests, as kubectl makes them: a grace period of 0 requires --force
// (K kubectl/pkg/cmd/delete/delete.go: DeleteOptions.Complete).
func (p *previewDelete) setOptions() error {
	o := &p.ask.Options
	o.PropagationPolicy = cascades[p.cascade]
	switch {
	case o.PropagationPolicy == "":
		return errUsage{fmt.Errorf("--cascade %q is not background, foreground or orphan", p.cascade)}
	case p.now && p.grace != -1:
		return errUsage{errors.New("--now can't be used with --grace-period")}
	case p.force && (p.now || p.grace > 0):
		return errUsage{errors.New("--force can't be used with a grace period of more than 0")}
	case p.force:
		p.grace = 0
	case p.now, p.grace == 0:
		p.grace = 1
	}
	if p.grace >= 0 {
		o.GracePeriodSeconds = &p.grace
	}
	return nil
}
