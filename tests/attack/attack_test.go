//go:build linux

package attack

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/tests/process"
)

var (
	full = flag.Bool("full", false, "run all attacks, each for 8 s, and look at the other user's times")
	only = flag.String("only", ".", "regular expression of the attacks to run")
)

// The limits for every attack: the server's resident memory, and the duration of 99 % of the other user's requests.
const (
	maxMemory = 2 << 30
	maxP99    = time.Second
)

// attack is an attempt of one client to exhaust a server, or to prevent requests of other clients.
type attack struct {
	name, does string
	// setup creates the objects that the attack needs, as an administrator.
	setup func(ctx context.Context, t target) error
	// run attacks until ctx ends, in the attacker's process.
	run func(ctx context.Context, m *mallory) error
	// answers is the minimum number of responses. The attack continues until they have arrived.
	answers int
	// forbidden reports whether the attacker has no permission for its requests.
	forbidden bool
	// long skips the attack without -full: only times show its effect, or it takes many seconds, connections or
	// gigabytes.
	long bool
}

// The attacker's process is this program with these variables.
const envName, envTarget, envFor = "ATTACK_NAME", "ATTACK_TARGET", "ATTACK_FOR"

func TestMain(m *testing.M) {
	if name := os.Getenv(envName); name != "" {
		if err := join(name, target(os.Getenv(envTarget)), os.Getenv(envFor)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(process.Run(m, nil))
}

// TestAttacksExceedNoLimit prints the effects of each attack on a new server. Without -full each attack is short, and
// times are not checked.
func TestAttacksExceedNoLimit(t *testing.T) {
	which, err := regexp.Compile(*only)
	must(t, err)
	fmt.Printf("%-24s %8s %9s %8s %6s  %s\n", "attack", "CPU s", "peak MiB", "p99 ms", "GETs", "answers to the attacker")
	for _, a := range table() {
		if which.MatchString(a.name) && (*full || !a.long) {
			t.Run(a.name, func(t *testing.T) { a.measure(t) })
		}
	}
}

func (a attack) measure(t *testing.T) {
	s := serve(t)
	if a.setup != nil {
		must(t, a.setup(t.Context(), s.target))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var around sync.WaitGroup
	o := &observer{client: s.client(other, true)}
	around.Go(func() { o.observe(ctx) })
	go func() { // until the server has ended, at the latest below
		<-s.Ended
		stop()
	}()
	answers, err := a.start(ctx, s.target)
	stop()
	around.Wait()
	slices.Sort(o.times)
	down := s.down(t.Context())
	cpu, peak := s.usage()
	e := effect{answers, down, peak, o.times[len(o.times)*99/100], o.failed}
	fmt.Printf("%-24s %8.1f %9d %8.0f %6d  %v\n", a.name, cpu.Seconds(), peak>>20, e.p99.Seconds()*1000, len(o.times), answers)
	for _, what := range a.exceeded(e, *full) {
		t.Errorf("%s (%s)", what, a.does)
	}
	if err != nil && e.down == "" { // otherwise the attacker was ended, too
		t.Error(err)
	}
}

type effect struct {
	// answers has the number of responses by code. Code 0 means no response.
	answers map[int]int
	// down is the reason why the server does not serve any more, or empty.
	down string
	// peak is the maximum of the server's resident memory in bytes.
	peak int64
	// p99 and failed are results of the other user's requests.
	p99    time.Duration
	failed []string
}

// exceeded returns the limits that an attack exceeded, in words, or the reason why the attack had no effect.
func (a attack) exceeded(e effect, timed bool) (all []string) {
	if e.down != "" {
		return []string{e.down}
	}
	if e.peak > maxMemory {
		all = append(all, fmt.Sprintf("peak > %d MiB", maxMemory>>20))
	}
	if len(e.failed) > 0 {
		all = append(all, fmt.Sprintf("%d requests of others failed: %s", len(e.failed), e.failed[0]))
	}
	if timed && e.p99 > maxP99 {
		all = append(all, fmt.Sprintf("p99 > %v", maxP99))
	}
	missed := []int{401, 404, 405, 406, 415}
	if !a.forbidden {
		missed = append(missed, 403)
	}
	for _, code := range slices.Sorted(maps.Keys(e.answers)) {
		if slices.Contains(missed, code) {
			all = append(all, fmt.Sprintf("the attack missed: %d", code))
		}
	}
	if n := count(e.answers); n < a.answers {
		all = append(all, fmt.Sprintf("only %d of %d answers came", n, a.answers))
	}
	return all
}

// count returns the number of responses.
func count(answers map[int]int) (n int) {
	for code, times := range answers {
		if code != 0 {
			n += times
		}
	}
	return n
}

// start runs the attacker's process. It returns the number of responses by code. Code 0 means no response.
func (a attack) start(ctx context.Context, t target) (answers map[int]int, err error) {
	d := 300 * time.Millisecond
	if *full {
		d = 8 * time.Second
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d+3*patience)
	defer cancel()
	// nice is POSIX. A process can't lower the priority of its existing threads.
	cmd := exec.CommandContext(ctx, "nice", "-n", "10", exe)
	cmd.Env = append(os.Environ(), envName+"="+a.name, envTarget+"="+string(t), envFor+"="+d.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the attacker's process: %w", err)
	}
	return answers, json.Unmarshal(out, &answers)
}

// observer sends the other user's requests.
type observer struct {
	client *client

	mu     sync.Mutex // guards the fields below
	times  []time.Duration
	failed []string
}

// observe sends a request every 20 ms until ctx ends, even if earlier ones have no response yet, so that a slow
// response does not delay the next request. A request fails after patience. It may end after the attack, because it
// shows the attack's effect.
func (o *observer) observe(ctx context.Context) {
	defer o.client.http.CloseIdleConnections()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var flying sync.WaitGroup
	defer flying.Wait()
	for {
		flying.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			began := time.Now()
			_, err := o.client.want(ctx, http.StatusOK, request{method: "GET", path: ordinary})
			o.mu.Lock()
			defer o.mu.Unlock()
			o.times = append(o.times, time.Since(began))
			if err != nil {
				o.failed = append(o.failed, err.Error())
			}
		})
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// TestExceededLimitIsReported: an exceeded limit is reported, and so is an attack without an effect.
func TestExceededLimitIsReported(t *testing.T) {
	for want, c := range map[string]struct {
		attack attack
		effect effect
	}{
		"":                                 {attack{}, effect{answers: map[int]int{0: 1, 429: 1}, peak: maxMemory, p99: maxP99}},
		"ended":                            {attack{}, effect{down: "ended", peak: maxMemory + 1, answers: map[int]int{404: 1}}},
		"peak > 2048 MiB":                  {attack{}, effect{peak: maxMemory + 1}},
		"p99 > 1s":                         {attack{}, effect{p99: maxP99 + 1}},
		"the attack missed: 404":           {attack{forbidden: true}, effect{answers: map[int]int{403: 1, 404: 1}}},
		"the attack missed: 403":           {attack{}, effect{answers: map[int]int{403: 1}}},
		"only 1 of 2 answers came":         {attack{answers: 2}, effect{answers: map[int]int{0: 3, 200: 1}}},
		"2 requests of others failed: 429": {attack{}, effect{failed: []string{"429", "EOF"}}},
	} {
		if got := strings.Join(c.attack.exceeded(c.effect, true), "; "); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
}
