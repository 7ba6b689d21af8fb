package conformance

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the report as a table, with the failures below it. Notes that explain many failures precede it.
func (r *Report) WriteText(w io.Writer) error {
	for _, note := range []string{r.Collector, r.Namespaces, r.Jobs, r.Rights} {
		if note != "" {
			if _, err := fmt.Fprintf(w, "NOTE: %s\n\n", note); err != nil {
				return err
			}
		}
	}
	out := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(out, "CASE\tRESULT\tTIME\tRULES")
	for _, res := range r.Results {
		fmt.Fprintf(out, "%s\t%s\t%.1fs\t%s\n", res.Name, res.Outcome, res.Seconds, strings.Join(res.Rules, " "))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	for _, same := range groupBy(r.Results, r.failureKey) {
		first := same[0]
		fmt.Fprintf(&b, "\nFAILED %s\n%s\n", first.Name,
			indent(first.Proves+"\n"+first.Docs+"\n\n"+first.Failure.String()))
		if more := same[1:]; len(more) > 0 {
			fmt.Fprintf(&b, "\nFAILED in the same way as %s:\n%s\n", first.Name, names(more))
		}
	}
	for _, same := range groupBy(r.Results, func(res Result) string { return res.Reason }) {
		fmt.Fprintf(&b, "\nNO RESULT, %s:\n%s\n", same[0].Reason, names(same))
	}
	if len(r.LeftBehind) > 0 {
		fmt.Fprintf(&b, "\nNOT DELETED in time:\n%s\n", indent(strings.Join(r.LeftBehind, "\n")))
	}
	fmt.Fprintf(&b, "\n%s\n", r.Summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary returns the report in one line.
func (r *Report) Summary() string {
	s := fmt.Sprintf(
		"%s (%s): %d cases in %.1f s: %d passed, %d failed", r.Server, r.Version, len(r.Results), r.Seconds, r.Passed,
		r.Failed,
	)
	if r.Skipped > 0 {
		s += fmt.Sprintf(", %d skipped", r.Skipped)
	}
	if r.NotRun > 0 {
		s += fmt.Sprintf(", %d not run", r.NotRun)
	}
	return s
}

// String returns the failure in several lines.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "expected: %s\nseen:     %s\n", f.Expected, f.Seen)
	if f.Object != "" {
		fmt.Fprintf(&b, "object:\n%s\n", indent(f.Object))
	}
	if f.Request != "" {
		fmt.Fprintf(&b, "request:\n%s\n", indent(f.Request))
	}
	if len(f.Sent) > 0 {
		fmt.Fprintf(&b, "sent by the case, without credentials:\n%s\n", indent(strings.Join(f.Sent, "\n")))
	}
	return strings.TrimRight(b.String(), "\n")
}

// indent indents the lines that are not empty.
func indent(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "\n")
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Started  string      `xml:"timestamp,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string       `xml:"classname,attr"`
	Name    string       `xml:"name,attr"`
	Time    string       `xml:"time,attr"`
	Failure *junitResult `xml:"failure,omitempty"`
	Skipped *junitResult `xml:"skipped,omitempty"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report as the XML that CI systems read.
func (r *Report) WriteJUnit(w io.Writer) error {
	s := junitSuite{Name: "kubecascade conformance", Tests: len(r.Results), Failures: r.Failed,
		Skipped: r.Skipped + r.NotRun,
		Time:    seconds(r.Seconds), Started: r.Started.Format(time.RFC3339)}
	for _, res := range r.Results {
		class, name, _ := strings.Cut(res.Name, "/")
		c := junitCase{Class: "conformance." + class, Name: name, Time: seconds(res.Seconds)}
		if f := res.Failure; f != nil {
			c.Failure = &junitResult{
				Message: "expected " + f.Expected + "; seen: " + f.Seen, Text: res.Proves + "\n" + f.String(),
			}
		}
		if res.Reason != "" {
			c.Skipped = &junitResult{Message: res.Reason}
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

// groupBy groups results by key, in the order of the first result of each key. It omits results with an empty key.
func groupBy(all []Result, key func(Result) string) (groups [][]Result) {
	index := map[string]int{}
	for _, r := range all {
		k := key(r)
		i, ok := index[k]
		if !ok {
			i = len(groups)
			index[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return slices.DeleteFunc(groups, func(g []Result) bool { return key(g[0]) == "" })
}

// names returns the names of the cases, one on each line.
func names(all []Result) string {
	var lines []string
	for _, r := range all {
		lines = append(lines, r.Name)
	}
	return indent(strings.Join(lines, "\n"))
}

// failureKey returns a key that similar failures share, or an empty string for a case that has not failed. If the case
// waited for a part of the cluster that does not work, the key is that part. Otherwise it is the message without the
// strings that differ from case to case.
func (r *Report) failureKey(res Result) string {
	if res.Failure == nil {
		return ""
	}
	if strings.HasSuffix(res.Failure.Seen, timedOut) {
		switch {
		case r.Collector != "" && res.Needs&Collector != 0:
			return "collector"
		case r.Namespaces != "" && res.Needs&Namespaces != 0:
			return "namespaces"
		case r.Jobs != "" && res.Needs&Jobs != 0:
			return "jobs"
		}
	}
	text := res.Failure.Expected + "\n" + res.Failure.Seen
	for _, d := range differing {
		text = d.ReplaceAllString(text, "*")
	}
	return text
}

// differing match the strings that differ from case to case: uids, names with the prefix of a case, and numbers such as
// durations.
var differing = []*regexp.Regexp{
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
	regexp.MustCompile(`conformance-[a-z0-9]{5}-[a-z0-9-]+`),
	regexp.MustCompile(`[0-9][0-9.]*(ms|m|s|µs)?([0-9.]+s)?`),
}
