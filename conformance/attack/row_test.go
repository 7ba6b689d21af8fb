package attack

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestExceeded: only the exceeded bound is reported; if the server has ended, what follows from that isn't reported.
func TestExceeded(t *testing.T) {
	bounds := Bounds{Memory: 100 << 20, P99: 250 * time.Millisecond}
	for what, c := range map[string]struct {
		row  Row
		want []string
	}{
		"at the bounds": {Row{Peak: 100 << 20, Seen: Seen{Requests: 9, P99: 250 * time.Millisecond}}, nil},
		"memory":        {Row{Peak: 101 << 20}, []string{"peak > 100 MiB"}},
		"time":          {Row{Seen: Seen{P99: 251 * time.Millisecond}}, []string{"p99 > 250ms"}},
		"429":           {Row{Seen: Seen{Rejected: 1}}, []string{"429 for the other user"}},
		"failure": {Row{Seen: Seen{Failed: 1, Failure: "EOF"}},
			[]string{"the other user's requests failed: EOF"}},
		"missed": {Row{Err: errors.New("the attack missed: 404")}, []string{"the attack missed: 404"}},
		"down": {Row{Down: "killed", Peak: 200 << 20, Seen: Seen{Failed: 1, P99: time.Second}},
			[]string{"the server is down: killed"}},
		"several of them": {Row{Peak: 101 << 20, Seen: Seen{Rejected: 2}},
			[]string{"peak > 100 MiB", "429 for the other user"}},
	} {
		if got := c.row.Exceeded(bounds); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q instead of %q", what, got, c.want)
		}
	}
	if got := (Row{Seen: Seen{P99: time.Hour}}).Exceeded(Bounds{Memory: 1}); got != nil {
		t.Errorf("without a bound for time: %q", got)
	}
}

func TestLine(t *testing.T) {
	row := Row{Title: "a/b", CPU: 1500 * time.Millisecond, Peak: 3 << 20, Answers: map[int]int{429: 1, 0: 2},
		Seen: Seen{Requests: 7, P99: 2500 * time.Microsecond}}
	want := "a/b 1.5 3 2.5 7 0 0 ok (no response×2, 429×1)"
	if got := strings.Join(strings.Fields(row.Line(Standard)), " "); got != want {
		t.Errorf("%q instead of %q", got, want)
	}
}

func TestPercentile(t *testing.T) {
	all := make([]time.Duration, 0, 200)
	for i := range 200 {
		all = append(all, time.Duration(200-i))
	}
	for n, want := range map[int]time.Duration{0: 0, 1: 200, 99: 200, 100: 199, 200: 198} {
		if got := percentile(slices.Clone(all[:n]), 0.99); got != want {
			t.Errorf("of %d: %d instead of %d", n, got, want)
		}
	}
}

// TestFailure: an attack that didn't reach the server is a failure.
func TestFailure(t *testing.T) {
	late := errors.New("late")
	for what, c := range map[string]struct {
		attack    Attack
		report    report
		meanwhile error
		want      string
	}{
		"arrived":           {Attack{}, report{Answers: map[int]int{0: 1, 200: 3, 422: 1, 429: 7}}, nil, ""},
		"nothing there":     {Attack{}, report{Answers: map[int]int{200: 3, 404: 1}}, nil, "the attack missed: 404"},
		"no right":          {Attack{}, report{Answers: map[int]int{403: 1}}, nil, "the attack missed: 403"},
		"no right expected": {Attack{Forbidden: true}, report{Answers: map[int]int{403: 1}}, nil, ""},
		"rejected":          {Attack{Group: "rejected"}, report{Answers: map[int]int{403: 1, 404: 1}}, nil, ""},
		"own error":         {Attack{}, report{Err: "only 0 of 1 answers came"}, late, "only 0 of 1 answers came"},
		"meanwhile":         {Attack{}, report{}, late, "late"},
	} {
		got := ""
		if err := failure(&c.attack, c.report, c.meanwhile); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q instead of %q", what, got, c.want)
		}
	}
}
