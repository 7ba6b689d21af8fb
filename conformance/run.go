package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
)

// Options are the options of a run.
type Options struct {
	// Parallel is the number of cases that run at the same time.
	Parallel int
	// Timeout limits each case. CleanUp limits the deletion of the namespaces at the end.
	Timeout, CleanUp time.Duration
	// Progress is called after each change; nil is valid. Calls don't overlap.
	Progress func(Progress)
	// Note is called before any case runs, with the missing permissions if there are any; nil is valid.
	Note func(string)
}

// Progress is the state of a run.
type Progress struct {
	Done, Failed, Total int
	// Running are the names of the cases that run.
	Running []string
	// Probing are the parts of a cluster that are being detected.
	Probing []string
	// Cleaning reports whether all cases have ended and the cleanup runs.
	Cleaning bool
}

const (
	// probeTimeout limits a probe. A collector that has just started may need 45 s: a new leader of the controllers
	// takes 15 s, its first lists up to 30 s (D-03).
	probeTimeout = time.Minute
	// idleTimeout limits cases that need a missing part. Each fails with its reason.
	idleTimeout = 5 * time.Second
)

var (
	// ErrNoServer: the server does not return its version.
	ErrNoServer = errors.New("the server is not reachable")
	// ErrNoRight: the user can't create namespaces, so no case can run.
	ErrNoRight = errors.New("namespaces can't be created")
)

// runner executes a run. Its id distinguishes the objects of different runs.
type runner struct {
	Options
	client *Client
	id     string
	parts  []*part

	mu       sync.Mutex // guards the fields below
	progress Progress
	made     []*Object
}

// Run runs the cases and cleans up after them, also if ctx ends during the run. Cases that have not ended at that time
// are reported as not run.
func Run(ctx context.Context, c *Client, cases, leftOut []Case, o Options) (*Report, error) {
	version, err := serverVersion(ctx, c)
	if err != nil {
		return nil, err
	}
	r := &runner{Options: o, client: c, id: rand.String(5)}
	if err := r.checkNamespaceCreation(ctx); err != nil {
		return nil, err
	}
	lacking, err := r.rights(ctx)
	if err != nil {
		return nil, err
	}
	if lacking != "" && o.Note != nil {
		o.Note(lacking)
	}
	r.progress.Total = len(cases)
	rep := &Report{Rights: lacking, Server: c.URL, Version: version, Started: time.Now().UTC().Truncate(time.Second)}
	started := time.Now()
	rep.Results = make([]Result, len(cases), len(cases)+len(leftOut))
	defer r.tick()()
	r.parts = parts(rep)
	probed := r.probe(ctx, cases)
	if len(cases) > o.Parallel { // a few cases run at once anyway; many would each wait for its timeout
		probed()
		probed = func() {}
	}
	r.all(ctx, cases, rep.Results)
	probed()
	for _, c := range leftOut {
		rep.Results = append(rep.Results, Result{Case: c, Outcome: Skipped, Reason: "excluded by --skip"})
	}
	rep.Seconds = time.Since(started).Seconds()
	r.note(func(p *Progress) { p.Cleaning = true })
	patience := o.CleanUp
	if r.lacks(Namespaces) { // nothing will delete them
		patience = min(patience, idleTimeout)
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	rep.LeftBehind = leftBehind(clean, c, r.made)
	rep.count()
	return rep, nil
}

func serverVersion(ctx context.Context, c *Client) (string, error) {
	a, err := c.do(ctx, http.MethodGet, "/version", "", nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	v, _ := a.Body["gitVersion"].(string)
	if a.Code != http.StatusOK || v == "" {
		return "", fmt.Errorf("%w: %s/version responds %d: %s", ErrNoServer, c.URL, a.Code, strings.TrimSpace(a.Message()))
	}
	return v, nil
}

// checkNamespaceCreation checks by a dry run whether the user can create namespaces.
func (r *runner) checkNamespaceCreation(ctx context.Context) error {
	ns := newObject(Namespace, "", "conformance-"+r.id)
	a, err := r.client.do(ctx, http.MethodPost, Namespace.Path("", "")+"?dryRun=All", "application/json", ns.Object)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRight, err)
	}
	if a.Code != http.StatusCreated {
		return fmt.Errorf("%w: the server responds %d: %s", ErrNoRight, a.Code, strings.TrimSpace(a.Message()))
	}
	return nil
}

// all runs the cases in their order, several at a time.
func (r *runner) all(ctx context.Context, cases []Case, results []Result) {
	slots := make(chan struct{}, max(r.Parallel, 1))
	var running sync.WaitGroup
	for i, c := range cases {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			r.note(func(p *Progress) { p.Running = append(p.Running, c.Name) })
			results[i] = r.one(ctx, c, slug(i, c.Name), r.Timeout)
			r.note(func(p *Progress) { p.ended(c.Name, results[i].Outcome) })
		})
	}
	running.Wait()
}

// slug returns the case's part of names. The case's number makes it unique, because the name may be truncated.
func slug(i int, name string) string {
	s := fmt.Sprintf("%d-%s", i+1, strings.ReplaceAll(name, "/", "-"))
	return strings.TrimRight(s[:min(len(s), 36)], "-")
}

// one runs a case in its own namespace and cleans up after it.
func (r *runner) one(ctx context.Context, c Case, slug string, limit time.Duration) Result {
	res := Result{Case: c, Outcome: NotRun, Reason: "interrupted"}
	if ctx.Err() != nil {
		return res
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	t := &T{ctx: timed, client: r.client, started: time.Now(), prefix: "conformance-" + r.id + "-" + slug}
	t.idle = r.lacks(Collector)
	for _, p := range r.parts {
		if c.Needs&p.need != 0 {
			defer context.AfterFunc(p.absent, func() { time.AfterFunc(idleTimeout-time.Since(t.started), cancel) })()
		}
	}
	failure, skip := t.attempt(c)
	res.Seconds = time.Since(t.started).Seconds()
	switch {
	case skip != "":
		res.Outcome, res.Reason = Skipped, string(skip)
	case failure == nil:
		res.Outcome, res.Reason = Passed, ""
	case ctx.Err() == nil:
		failure.Sent = t.sent
		res.Outcome, res.Reason, res.Failure = Failed, "", failure
	}
	clean, done := context.WithTimeout(context.WithoutCancel(ctx), r.CleanUp)
	defer done()
	t.cleanUp(clean)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, t.made...)
	return res
}

// attempt runs a case to its end.
func (t *T) attempt(c Case) (failure *Failure, skip skipped) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case Failure:
			failure = &p
		case skipped:
			skip = p
		default: // a bug in a case, such as a missing field; the others go on
			failure = &Failure{Expected: "the case to run", Seen: fmt.Sprintf("it panics: %v\n%s", p, debug.Stack())}
		}
	}()
	t.create(newObject(Namespace, "", t.prefix, Labelled("app.kubernetes.io/managed-by", "kubecascade-conformance")))
	c.Run(t)
	return nil, ""
}

// note changes the progress and reports it.
func (r *runner) note(change func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.progress)
	if r.Progress != nil {
		r.Progress(r.progress)
	}
}
