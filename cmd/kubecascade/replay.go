package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade/conformance/recorded"
	"github.com/kubecascade/kubecascade/conformance/replay"
)

// replayer has the flags of "conformance replay".
type replayer struct {
	target
	users              []string
	only, from, record string
	attempts           int
	printed            bool
	output             outputs
}

func replayCommand() *cobra.Command {
	r := &replayer{}
	c := &cobra.Command{
		Use:   "replay",
		Short: "Send recorded requests to a server and compare the responses with those of Kubernetes v1.36.3",
		Long: `Send recorded requests to a server and compare the responses with those of Kubernetes v1.36.3.
For servers of later versions, reviewed changes of the expected responses are applied first.

Each scenario runs in a new namespace, which is deleted afterwards. Values that differ from run to run
(UIDs, resource versions, times) are replaced by names before the comparison. Some scenarios create CRDs and other
cluster-scoped objects, and delete them at the end.
The scenarios below scenarios/ were recorded with four controllers: garbage collector, namespace, and the two for
storage protection. Those below owners/ were recorded with all controllers; --only owners/ replays them.
Scenarios with users that have no --user are skipped; such users need RBAC.
The exit code is 1 if a response differs, 2 if nothing could be compared (wrong usage, server unreachable,
permissions missing), and 130 if the run is interrupted.`,
		Example: `  kubecascade conformance replay --server http://127.0.0.1:8080
  kubecascade conformance replay --server http://127.0.0.1:8080 --only scenarios/apply --output json
  kubecascade conformance replay --server https://127.0.0.1:6443 --certificate-authority ca.crt --token T \
    --user alice=A --user bob=B --only owner-permissions`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return r.do(c.Context(), c.OutOrStdout(), c.ErrOrStderr()) },
	}
	f := c.Flags()
	f.SortFlags = false
	r.flagsOrEnvironment(f)
	f.StringArrayVar(&r.users, "user", nil,
		"bearer token of another user in the scenarios, as `NAME=TOKEN`; may be repeated")
	f.StringVar(&r.only, "only", "scenarios/", "replay only scenarios whose path contains this string")
	f.StringVar(&r.from, "recorded", "", "directory with recorded scenarios to use instead of those in the binary")
	f.StringVar(&r.record, "record", "",
		"directory to which the scenarios are written with the responses of this server, without comparing them")
	f.IntVar(&r.attempts, "attempts", 3,
		"maximum number of times a scenario is replayed until all responses are equal; some reads race with controllers")
	f.BoolVar(&r.printed, "printed-values", false,
		"compare the objects, lists and differences in messages, too; Kubernetes prints internal Go types there")
	f.StringArrayVarP((*[]string)(&r.output), "output", "o", []string{"text"},
		"output format: text or json; FORMAT=FILE writes to a file; may be repeated")
	return c
}

func (r *replayer) do(ctx context.Context, stdout, stderr io.Writer) error {
	if err := r.check(); err != nil {
		return err
	}
	to, err := r.connect()
	if err != nil {
		return err
	}
	scenarios, err := r.scenarios()
	if err != nil {
		return err
	}
	changes, err := replay.LoadChanges(recorded.Changes(r.from))
	if err != nil {
		return errUnable{err}
	}
	files, err := r.output.open()
	if err != nil {
		return err
	}
	line := newProgressLine(stderr)
	progress := func(scenario string, step, steps int) {
		line.print(fmt.Sprintf("%s: step %d of %d", scenario, step+1, steps))
	}
	rep, err := replay.Run(ctx, to, scenarios, replay.Options{
		Attempts: r.attempts, Progress: progress, Changes: changes, PrintedValues: r.printed})
	line.clear()
	switch {
	case ctx.Err() != nil:
		err = errInterrupted{errors.New("interrupted")}
	case err != nil:
		err = errUnable{err}
	case r.record != "":
		return r.write(rep, stdout)
	default:
		err = outcome(rep)
	}
	formats := map[string]func(io.Writer) error{"text": rep.WriteText, "json": rep.WriteJSON}
	return errors.Join(r.output.write(stdout, files, formats), err)
}

// check validates the flags. With --record, the first attempt is written, equal or not.
func (r *replayer) check() error {
	if r.attempts < 1 {
		return errUsage{errors.New("--attempts must be positive")}
	}
	if r.record != "" {
		r.attempts = 1
	}
	return r.output.check("text", "json")
}

// connect returns the server with a client for the administrator, and one without credentials.
func (r *replayer) connect() (*replay.Target, error) {
	tokens := map[string]string{}
	for _, u := range r.users {
		name, token, ok := strings.Cut(u, "=")
		if !ok || name == "" || token == "" {
			return nil, errUsage{errors.New("--user must be NAME=TOKEN")} // without its value, which may be a token
		}
		tokens[name] = token
	}
	c, err := r.config()
	if err != nil {
		return nil, err
	}
	admin, err := connect(c)
	if err != nil {
		return nil, err
	}
	anonymous, err := connect(rest.AnonymousClientConfig(c))
	if err != nil {
		return nil, err
	}
	return &replay.Target{URL: admin.URL, Admin: admin.HTTP, Anonymous: anonymous.HTTP, Tokens: tokens}, nil
}

// scenarios returns the scenarios that --recorded and --only select.
func (r *replayer) scenarios() ([]replay.Scenario, error) {
	read := recorded.Files
	if r.from != "" {
		read = func() (map[string][]byte, error) { return recorded.Read(os.DirFS(r.from)) }
	}
	files, err := read()
	if err != nil {
		return nil, errUnable{err}
	}
	all, err := replay.Load(files, r.only)
	if err != nil {
		return nil, errUnable{err}
	}
	if len(all) == 0 {
		return nil, errUsage{fmt.Errorf("no recorded scenario has %q in its path; the scenarios are %s",
			r.only, strings.Join(replay.Paths(files), " "))}
	}
	return all, nil
}

func outcome(rep *replay.Report) error {
	switch {
	case rep.Different > 0:
		return fmt.Errorf("%d of %d responses differ from the recorded ones", rep.Different, rep.Different+rep.Equal)
	case rep.Equal == 0:
		return errUnable{errors.New("no response could be compared")}
	}
	return nil
}

// write writes the scenarios with this run's responses.
func (r *replayer) write(rep *replay.Report, stdout io.Writer) error {
	var lacking []string
	for _, result := range rep.Results {
		if result.Recording == nil {
			lacking = append(lacking, result.Scenario)
			continue
		}
		name := filepath.Join(r.record, filepath.FromSlash(result.Scenario)+".json")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return errUnable{err}
		}
		if err := os.WriteFile(name, result.Recording, 0o644); err != nil {
			return errUnable{err}
		}
		fmt.Fprintf(stdout, "recorded %s\n", name)
	}
	if len(lacking) > 0 {
		return errUnable{fmt.Errorf("not recorded because requests had no response or the scenario was skipped: %s",
			strings.Join(lacking, " "))}
	}
	return nil
}
