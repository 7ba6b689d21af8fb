package expression

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// outcome is one answer of upstream's own plugins, as recorded in conformance/recorded/admission.
type outcome struct {
	// denied reports whether there is a Status; object is what was printed otherwise.
	denied  bool
	code    string
	reason  metav1.StatusReason
	message string
	causes  []string
	object  string
	// rest contains warnings and audit annotations.
	rest string
}

var answerLine = regexp.MustCompile(`(?m)^(\S[^|]*?) +(OK\b|\d{3} \w* \|)`)

// recorded returns the answers of a section of a file, by the names of their cases.
func recorded(t *testing.T, file, section string) map[string]outcome {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../conformance/recorded/admission", file))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(data), "===== "+section+"\n")
	if !ok {
		t.Fatalf("%s has no section %s", file, section)
	}
	text, _, _ = strings.Cut(text, "\n=====")
	all, starts := map[string]outcome{}, answerLine.FindAllStringSubmatchIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		all[strings.TrimSpace(text[at[2]:at[3]])] = parsed(t, strings.TrimSuffix(text[at[4]:end], "\n"))
	}
	if len(all) < 10 {
		t.Fatalf("%s: only %d answers in section %s", file, len(all), section)
	}
	return all
}

func parsed(t *testing.T, answer string) (o outcome) {
	if rest, ok := strings.CutPrefix(answer, "OK"); ok {
		o.object = rest[strings.LastIndex(rest, " ")+1:]
		if n := strings.Index(rest, ` {"`); n >= 0 {
			o.object = rest[n+1:]
		}
		o.rest = rest
		return o
	}
	o.denied, o.code = true, answer[:3]
	head, details, ok := strings.Cut(answer, ` | {"`)
	reason, message, _ := strings.Cut(head[4:], " | ")
	o.reason, o.message = metav1.StatusReason(reason), message
	if !ok {
		return o // an error that is no Status, or without details
	}
	d := json.NewDecoder(strings.NewReader(`{"` + details))
	var status metav1.StatusDetails
	if err := d.Decode(&status); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	for _, c := range status.Causes {
		o.causes = append(o.causes, c.Message)
	}
	o.rest = (`{"` + details)[d.InputOffset():]
	return o
}

// said returns the text after "denied request: " in the first cause.
func (o outcome) said() string {
	if len(o.causes) == 0 {
		return ""
	}
	_, after, _ := strings.Cut(o.causes[0], " denied request: ")
	return after
}
