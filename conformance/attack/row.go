package attack

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Row is what an attack did to a server.
type Row struct {
	Title string
	// CPU is the server's processor time while the attack ran, and Peak the most bytes that were resident.
	CPU  time.Duration
	Peak int64
	Seen Seen
	// Answers counts the attacker's answers by their codes; 0 counts requests without an answer.
	Answers map[int]int
	// Down says why the server ended; "" if it still serves.
	Down string
	// Err is why the attack couldn't be carried out, or what did not succeed meanwhile.
	Err error
}

// Seen is what the other user noticed.
type Seen struct {
	// Requests were sent, of which Rejected were answered with 429, and Failed with another code that isn't 200, or not
	// at all.
	Requests, Rejected, Failed int
	P99                        time.Duration
	// Failure is an example of what failed.
	Failure string
}

// Exceeded returns the bounds that a row exceeds, each in words; none means that the server stood the attack.
func (r Row) Exceeded(b Bounds) (all []string) {
	if r.Down != "" {
		all = append(all, "the server is down: "+r.Down)
	}
	if r.Peak > b.Memory && r.Down == "" {
		all = append(all, fmt.Sprintf("peak > %d MiB", b.Memory>>20))
	}
	if r.Err != nil {
		all = append(all, r.Err.Error())
	}
	if r.Seen.Rejected > 0 {
		all = append(all, "429 for the other user")
	}
	if r.Seen.Failed > 0 && r.Down == "" {
		all = append(all, "the other user's requests failed: "+r.Seen.Failure)
	}
	if b.P99 > 0 && r.Seen.P99 > b.P99 && r.Down == "" {
		all = append(all, fmt.Sprintf("p99 > %v", b.P99))
	}
	return all
}

// Head is the line above rows.
func Head() string {
	return fmt.Sprintf("%-32s %8s %9s %9s %6s %5s %6s  %s",
		"attack", "CPU s", "peak MiB", "p99 ms", "GETs", "429", "failed", "verdict (answers to the attacker)")
}

// Line is a row with its verdict.
func (r Row) Line(b Bounds) string {
	verdict := "ok"
	if e := r.Exceeded(b); len(e) > 0 {
		verdict = strings.Join(e, "; ")
	}
	s := r.Seen
	return fmt.Sprintf("%-32s %8.1f %9d %9.1f %6d %5d %6d  %s (%s)", r.Title, r.CPU.Seconds(), r.Peak>>20,
		float64(s.P99.Microseconds())/1000, s.Requests, s.Rejected, s.Failed, verdict, counts(r.Answers))
}

// counts says how often the attacker was given which answer.
func counts(answers map[int]int) string {
	var words []string
	for _, code := range slices.Sorted(maps.Keys(answers)) {
		name := fmt.Sprint(code)
		if code == 0 {
			name = "no response"
		}
		words = append(words, fmt.Sprintf("%s×%d", name, answers[code]))
	}
	if len(words) == 0 {
		return "nothing was answered"
	}
	return strings.Join(words, ", ")
}

// percentile returns the value that the given share of all values does not exceed; 0 if there are none. It sorts them.
func percentile(all []time.Duration, share float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	n := len(all) - int(float64(len(all))*(1-share)) - 1 // rounded up
	return all[n]
}
