package extensions

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// server is one of the two compared servers.
type server struct {
	url    string
	client *http.Client
	// token is the token of a user with all permissions.
	token string
	// bare reports whether the server has no controllers, so that the test establishes definitions.
	bare bool
	// uids and revisions map the values that each server chooses to names, in the order of their first appearance.
	uids, revisions map[string]string
}

// forget deletes these names.
func (s *server) forget() { s.uids, s.revisions = map[string]string{}, map[string]string{} }

type call struct{ method, path, media, body string }

// answer has the compared parts of a response.
type answer struct {
	Code     int
	Warnings []string
	Body     any
}

func (s *server) do(t *testing.T, c call) answer {
	t.Helper()
	body := c.body
	for name, symbol := range s.revisions {
		body = strings.ReplaceAll(body, `"`+symbol+`"`, `"`+name+`"`)
	}
	r, err := http.NewRequestWithContext(t.Context(), c.method, s.url+c.path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if c.media != "" {
		r.Header.Set("Content-Type", c.media)
	}
	r.Header.Set("User-Agent", "agent/1")
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(resp.Body)
	if e := resp.Body.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Code: resp.StatusCode, Warnings: resp.Header.Values("Warning")}
	if err := json.Unmarshal(data, &a.Body); err != nil {
		t.Fatalf("%s %s: %v: %s", c.method, c.path, err, data)
	}
	a.Body = s.normalize(a.Body)
	return a
}

// normalize replaces values that each server chooses.
func (s *server) normalize(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			e := v[key]
			text, isText := e.(string)
			switch {
			case key == "uid" && isText && text != "":
				v[key] = symbol(s.uids, text, "uid")
			case key == "resourceVersion" && isText && text != "":
				v[key] = symbol(s.revisions, text, "rev")
			case (key == "creationTimestamp" || key == "time") && isText:
				v[key] = "time"
			case key == "managedFields" || key == "causes":
				v[key] = s.normalize(e)
				sortAny(v[key])
			default:
				v[key] = s.normalize(e)
			}
		}
	case []any:
		for i := range v {
			v[i] = s.normalize(v[i])
		}
	case string:
		return s.message(v)
	}
	return v
}

// sortAny sorts a list whose order depends on times or on a map.
func sortAny(list any) {
	if list, ok := list.([]any); ok {
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(text(a), text(b)) })
	}
}

// chosen matches revisions and times in a message that quotes an object. listed matches the violations of a schema in a
// message: structured-merge-diff finds some of them, in the order of a map.
var (
	chosen = regexp.MustCompile(`(\\?"(resourceVersion|creationTimestamp|time)\\?":\\?)"[^"\\]*`)
	listed = regexp.MustCompile(`(?s)(errors:\s*)?\.spec\.\S*: (field not declared|duplicate entries|expected ).*`)
	quoted = regexp.MustCompile(`\\?"managedFields\\?":\[.*?\}\],`)
	item   = regexp.MustCompile(`\n|, |[][]|: `)
)

// message replaces such values in a message, and sorts its lists.
func (s *server) message(text string) string {
	for name, sym := range s.uids {
		text = strings.ReplaceAll(text, name, sym)
	}
	text = quoted.ReplaceAllString(text, "managedFields")
	items := item.Split(listed.ReplaceAllString(chosen.ReplaceAllString(text, `$1"*`), "doesn't suit"), -1)
	slices.Sort(items)
	return strings.Join(items, "\n")
}

func symbol(known map[string]string, name, prefix string) string {
	if known[name] == "" {
		known[name] = fmt.Sprint(prefix, "-", len(known))
	}
	return known[name]
}

// pair has both servers, and the requests that were sent to them.
type pair struct {
	upstream, ours *server
	trace          []string
}

// do sends a request to both servers and reports the differences between the responses.
func (p *pair) do(t *testing.T, c call) (a answer, same bool) {
	t.Helper()
	want, got := p.upstream.do(t, c), p.ours.do(t, c)
	p.trace = append(p.trace, fmt.Sprintf("%s %s %s -> %d", c.method, c.path, c.body, want.Code))
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s %s %s: (-upstream +ours):\n%s\nafter:\n%s", c.method, c.path, c.body, d, strings.Join(p.trace, "\n"))
		return want, false
	}
	return want, true
}
