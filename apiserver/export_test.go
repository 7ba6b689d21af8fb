package apiserver

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/connections"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/turns"
)

// Routes returns the routes that Insecure serves.
func (s *Server) Routes() chi.Routes {
	return s.routes(func(*http.Request) (auth.User, error) { return auth.Loopback, nil })
}

// Plugins returns the names of the plugins that there are, in the order in which they run.
func (s *Server) Plugins() (out []string) {
	for _, c := range s.registry.Plugins() {
		out = append(out, c.Name())
	}
	return out
}

// MatcherOf is what asks objects about a selector; nil if all are selected.
var MatcherOf = registry.MatcherOf

// EndsBurst lets a watch of the resource's collection that is in a burst read when nothing has come, and reports
// whether the burst is over for it.
func (s *Server) EndsBurst(ctx context.Context, res *resources.Resource) (bool, error) {
	q := &request{Operation: registry.Operation{Target: registry.Target{Resource: res}}}
	w := &watch{q: q, s: s, x: &render.Rendering{Resource: res}, rev: s.registry.Cache.Revision(), out: &chunks{begun: true}, burst: true}
	watcher, err := s.registry.Cache.Watch(res.Collection, w.rev)
	if err != nil {
		return false, err
	}
	_, _, ended := w.read(ctx, watcher)
	return !w.burst && !ended, nil
}

// MemoryHeld is how much memory is charged to requests.
func (s *Server) MemoryHeld() int64 { return s.memory.Counts().Held }

// Late is how many answers are left unread that keep what others may keep, too.
func (s *Server) Late() int {
	return s.unread.Sharing()
}

// TakeTurns takes all turns for long work until release. waiting is how many requests of a user wait for one.
func (s *Server) TakeTurns() (release func(), waiting func(user string) int) {
	taken := 0
	for s.long.Try() {
		taken++
	}
	release = func() {
		for range taken {
			s.long.End(turns.Now)
		}
	}
	return release, func(user string) int { return s.long.Waiting(turns.Now, user) }
}

// MaxBegun is how many requests may wait for their turn to begin.
const MaxBegun = maxBegun

// TakeTurnsToBegin takes all turns to begin until release. waiting is how many requests without a connection wait.
func (s *Server) TakeTurnsToBegin() (release func(), waiting func() int) {
	taken := 0
	for s.short.Try() {
		taken++
	}
	release = func() {
		for range taken {
			s.short.End(turns.Now)
		}
	}
	return release, func() int { return s.short.Waiting(turns.Now, connections.Owner{}) }
}

// PlacesToBegin is how many requests begin at a time.
func PlacesToBegin() int { return placesToBegin() }
