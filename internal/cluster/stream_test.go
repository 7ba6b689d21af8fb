package cluster_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/ui"
)

// stream opens a stream of the graph as a user, and returns a function that reads the next message.
func (s *secured) stream(user, query string) func() ui.Message {
	s.T.Helper()
	server := httptest.NewServer(s.API.Handler())
	s.T.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	req, err := http.NewRequestWithContext(s.T.Context(), "GET", server.URL+"/kubecascade/v1/graph"+query, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+user+"-token")
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		s.T.Fatal(res, err)
	}
	s.T.Cleanup(func() { _ = res.Body.Close() })
	lines := bufio.NewReader(res.Body)
	return func() (m ui.Message) {
		s.T.Helper()
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		if err != nil {
			s.T.Fatal(err)
		}
		return m
	}
}

// TestStreamHasAllowedObjects: a stream has what the user may list, the changes before it, and those after it, of the
// metadata only.
func TestStreamHasAllowedObjects(t *testing.T) {
	s := startSecured(t, nil)
	s.example()
	s.Grant("alice", "", "ask", `[`+paths+`]`)
	s.Grant("alice", "a", "read", `[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]},
		{"apiGroups":[""],"resources":["namespaces"],"verbs":["get"]}]`)
	// In this order, as the second one may not see the Secret that is made for the first one.
	for _, asked := range []struct{ user, want string }{{"admin", "d e o"}, {"alice", "d o"}} {
		user, want := asked.user, asked.want
		next := s.stream(user, "?namespace=a&past=true")
		begin := next()
		if begin.Type != ui.MessageBegin || begin.Source != ui.SourceServer || begin.Revision == 0 {
			t.Fatalf("%+v", begin)
		}
		var names, past []string
		m := next()
		for ; m.Type != ui.MessageSynced; m = next() {
			for _, o := range m.Objects {
				if o.Resource == "namespaces" && user == "alice" {
					t.Errorf("alice sees %+v, whose changes she does not get", o)
				}
				if o.Namespace == "a" && o.Name != "read" { // alice's role
					names = append(names, o.Name)
				}
			}
			for _, c := range m.Changes {
				if c.After != nil && c.After.Namespace == "a" && c.After.Name != "read" {
					past = append(past, c.After.Name)
				}
			}
		}
		if got := strings.Join(names, " "); got != want && got != strings.ReplaceAll(want, "d e o", "d o e") {
			t.Errorf("%s sees %s, expected %s", user, got, want)
		}
		unseen := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(past, n) })
		if len(unseen) > 0 || m.Revision != begin.Revision {
			t.Errorf("%s: %v have changed until %d, in a state of %d", user, past, m.Revision, begin.Revision)
		}
		s.create("/api/v1/namespaces/a/secrets", "hidden-"+user, "")
		for _, patch := range []string{
			`{"data":{"` + user + `":"not of the metadata"}}`, `{"metadata":{"finalizers":["example.com/` + user + `"]}}`,
		} {
			a := s.Ask("PATCH", "/api/v1/namespaces/a/configmaps/d", patch, "Authorization", "Bearer admin-token")
			if a.Code != http.StatusOK {
				t.Fatalf("%d %s", a.Code, a.Body)
			}
		}
		for found := false; !found; {
			for _, c := range next().Changes {
				if c.After.Resource == "secrets" && user == "alice" {
					t.Errorf("alice sees %+v", c)
				}
				if c.After.Name == "d" {
					if found = true; !c.Visible() || c.After.Finalizers[0] != "example.com/"+user {
						t.Errorf("%s: %+v %+v", user, c.Before, c.After)
					}
				}
			}
		}
	}
}

// TestGraphLimits: a graph that is too large is rejected, and unknown parameters are.
func TestGraphLimits(t *testing.T) {
	s := startSecured(t, func(s *cluster.Service) { s.MostObjects = 3 })
	s.example()
	for path, code := range map[string]int{
		"/kubecascade/v1/graph": 413, "/kubecascade/v1/graph?nmaespace=a": 400,
		"/kubecascade/v1/lint?x=y": 400, "/kubecascade/v1/lint?timeout=10s": 200,
	} {
		if a := s.As("admin", "GET", path, ""); a.Code != code {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
}

// TestFindingsAreAllowedObjects: findings are those in what the user may list.
func TestFindingsAreAllowedObjects(t *testing.T) {
	s := startSecured(t, nil)
	s.create("/api/v1/namespaces/a/configmaps", "lost", ownedBy("ConfigMap", "none", "never"))
	s.Grant("alice", "", "ask", `[`+paths+`]`)
	for user, want := range map[string]bool{"admin": true, "alice": false} {
		a := s.As(user, "GET", "/kubecascade/v1/lint", "")
		if a.Code != http.StatusOK || strings.Contains(string(a.Body), `"MissingOwner"`) != want ||
			strings.Contains(string(a.Body), `"notListed"`) == want || !strings.Contains(string(a.Body), `"resourceVersion"`) {
			t.Errorf("%s: %d %s", user, a.Code, a.Body)
		}
	}
}
