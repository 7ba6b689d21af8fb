package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// Options say how attacks are run.
type Options struct {
	// Binary is the server, and Attacker the command whose process calls Join.
	Binary   string
	Attacker []string
	// For is how long an attack goes on that doesn't say so itself, and Most the longest that any does; 0 is no limit.
	For, Most time.Duration
	// Memory is the limit beyond which a server is killed, in bytes.
	Memory int64
	// Log takes the servers' logs.
	Log io.Writer
}

// Run runs one attack against a server of its own. An error says that there was nothing to measure.
func Run(ctx context.Context, o Options, a *Attack) (row Row, err error) {
	p, err := start(o.Binary, o.Memory, o.Log, a.Flags...)
	if err != nil {
		return Row{}, err
	}
	defer func() {
		if e := p.stop(); err == nil {
			err = e
		}
	}()
	if err := prepare(ctx, p, a); err != nil {
		return Row{}, err
	}
	return measure(ctx, o, p, a)
}

// prepare makes what the attack needs.
func prepare(ctx context.Context, p *process, a *Attack) error {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	if err := p.target.furnish(ctx); err != nil {
		return fmt.Errorf("creating the users' rights: %w", err)
	}
	if a.Setup == nil {
		return nil
	}
	if err := a.Setup(ctx, p.target); err != nil {
		return fmt.Errorf("preparing: %w", err)
	}
	return nil
}

// measure attacks the server.
func measure(ctx context.Context, o Options, p *process, a *Attack) (Row, error) {
	row := Row{Title: a.Title()}
	before, err := p.cpu()
	if err != nil {
		return row, err
	}
	if err := p.forgetPeak(); err != nil {
		return row, err
	}
	attacking, stop := context.WithCancel(ctx)
	defer stop()
	var around sync.WaitGroup
	around.Go(func() { p.guard(attacking, o.Memory, stop) })
	around.Go(func() { row.Seen = observe(attacking, p.target) })
	var meanwhile error
	if a.Meanwhile != nil {
		around.Go(func() { meanwhile = a.Meanwhile(attacking, p.target) })
	}
	r, err := join(attacking, o, p, a)
	stop()
	around.Wait()
	if err != nil && !p.over() { // otherwise the attacker was ended, too
		return row, err
	}
	row.Answers = r.Answers
	after, err := p.cpu()
	if err != nil {
		return row, err
	}
	row.CPU = after - before
	row.Down = p.down(ctx)
	var killed bool
	if row.Peak, killed = p.peak(); killed {
		row.Down = fmt.Sprintf("killed, as its memory passed %d MiB", o.Memory>>20)
	}
	if row.Down == "" {
		row.Err = failure(a, r, meanwhile)
	}
	return row, nil
}

// join runs the attacker's process.
func join(ctx context.Context, o Options, p *process, a *Attack) (r report, err error) {
	how := order{Title: a.Title(), Target: *p.target, For: o.For}
	if a.For != 0 {
		how.For = a.For
	}
	if o.Most != 0 {
		how.For = min(how.For, o.Most)
	}
	in, err := json.Marshal(how)
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, how.For+3*patience)
	defer cancel()
	// nice is POSIX; a process can't lower the priority of threads that it has already.
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "10"}, o.Attacker...)...)
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, o.Log
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("the attacker's process: %w", err)
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}

// failure says what shows that the attack wasn't carried out, or what didn't succeed meanwhile.
func failure(a *Attack, r report, meanwhile error) error {
	missed := []int{401, 404, 405, 406, 415}
	if !a.Forbidden {
		missed = append(missed, 403)
	}
	for _, code := range slices.Sorted(maps.Keys(r.Answers)) {
		if a.Group != "rejected" && slices.Contains(missed, code) {
			return fmt.Errorf("the attack missed: %d", code)
		}
	}
	if r.Err != "" {
		return fmt.Errorf("%s", r.Err)
	}
	return meanwhile
}

// down says why the server serves no more; "" if it does.
func (p *process) down(ctx context.Context) string {
	c := p.target.client(other, false)
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := c.want(ctx, http.StatusOK, Request{Method: "GET", Path: ordinary})
	switch {
	case p.over():
		return fmt.Sprint(p.err, p.log.cause())
	case err != nil:
		return err.Error()
	}
	return ""
}
