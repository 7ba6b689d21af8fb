package replay

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Report is the result of a run, in the order of the scenarios.
type Report struct {
	Server string `json:"server"`
	// Rules are the rules of the changes that were expected in responses of the server's version.
	Rules []string `json:"rules,omitempty"`
	// Equal and Different are numbers of steps, Skipped is the number of scenarios.
	Equal     int      `json:"equal"`
	Different int      `json:"different"`
	Skipped   int      `json:"skipped"`
	Results   []Result `json:"results"`
}

// Result is the result of a scenario.
type Result struct {
	Scenario string `json:"scenario"`
	// Attempts is the number of replays. The other fields are those of the last one.
	Attempts int `json:"attempts,omitempty"`
	// Equal is the number of steps whose response equals the recorded one.
	Equal    int       `json:"equal"`
	Findings []Finding `json:"findings,omitempty"`
	// Skipped is the reason why the scenario was not replayed.
	Skipped string `json:"skipped,omitempty"`
	// Recording is the scenario's file with the responses of this run, or nil if a request got no response.
	Recording []byte `json:"-"`
}

// Finding is a step whose response differs from the recorded one.
type Finding struct {
	// Step is the number of the step, from 0.
	Step        int          `json:"step"`
	Title       string       `json:"title"`
	Differences []Difference `json:"differences"`
	// Curl is the command that sends the request again. Its namespace is deleted when the scenario ends.
	Curl string `json:"curl"`
}

// compared adds the result of a step.
func (r *Result) compared(f Finding) {
	if len(f.Differences) == 0 {
		r.Equal++
		return
	}
	r.Findings = append(r.Findings, f)
}

func (r *Report) add(result Result) {
	r.Results = append(r.Results, result)
	r.Equal += result.Equal
	r.Different += len(result.Findings)
	if result.Skipped != "" {
		r.Skipped++
	}
}

const (
	// maxShown is the maximum number of characters of a value in a text report, maxDifferences that of differences of a
	// step.
	maxShown       = 300
	maxDifferences = 20
)

// WriteText writes the report as text.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, result := range r.Results {
		for _, f := range result.Findings {
			f.text(&b, result.Scenario)
		}
		switch {
		case result.Skipped != "":
			fmt.Fprintf(&b, "SKIPPED %s: %s\n", result.Scenario, result.Skipped)
		case len(result.Findings) > 0:
			fmt.Fprintf(&b, "%s: %d equal, %d different%s\n",
				result.Scenario, result.Equal, len(result.Findings), result.again())
		default:
			fmt.Fprintf(&b, "%s: %d equal%s\n", result.Scenario, result.Equal, result.again())
		}
	}
	fmt.Fprintf(&b, "%s: %d steps equal, %d different (%d of %d scenarios skipped)\n", r.Server,
		r.Equal, r.Different, r.Skipped, len(r.Results))
	if len(r.Rules) > 0 {
		fmt.Fprintf(&b, "expected as its version responds, other than recorded: %s\n", strings.Join(r.Rules, " "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (f Finding) text(b *strings.Builder, scenario string) {
	fmt.Fprintf(b, "DIFFERENT %s, step %d: %s\n", scenario, f.Step, f.Title)
	for i, d := range f.Differences {
		if i == maxDifferences {
			fmt.Fprintf(b, "  and %d more\n", len(f.Differences)-i)
			break
		}
		fmt.Fprintf(b, "  %s\n    recorded: %s\n    received: %s\n", d.Path, shown(d.Recorded), shown(d.Answered))
	}
	fmt.Fprintf(b, "  %s\n", f.Curl)
}

// shown returns a value for a line of the report.
func shown(v string) string {
	if v == "" {
		return "nothing"
	}
	if r := []rune(v); len(r) > maxShown {
		return string(r[:maxShown]) + "..."
	}
	return v
}

// again returns the number of replays, if there was more than one.
func (r Result) again() string {
	if r.Attempts < 2 {
		return ""
	}
	return fmt.Sprintf(" in attempt %d", r.Attempts)
}

// WriteJSON writes the whole report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
