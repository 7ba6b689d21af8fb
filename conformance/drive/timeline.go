package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// raw is an event with the server's UID, whose symbol may not be known yet.
type raw struct {
	kind    string
	version int64
	Type    model.EventType `json:"type"`
	Object  struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Message  string            `json:"message"`
	} `json:"object"`
}

// namespaces are watched only for their versions (see Timeline.Whole).
var namespaces = model.Kind{Name: "Namespace", APIVersion: "v1", Plural: "namespaces"}

// list lists a collection and returns the version of the list.
func (s *Session) list(ctx context.Context, path string) ([]metav1.ObjectMeta, string, error) {
	code, body, err := s.do(ctx, Request{Method: "GET", Path: path})
	if err != nil {
		return nil, "", err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || code != http.StatusOK {
		return nil, "", fmt.Errorf("%d %.200s", code, body)
	}
	items := make([]metav1.ObjectMeta, len(a.Items))
	for i := range a.Items {
		items[i] = a.Items[i].Metadata
	}
	return items, a.Metadata.ResourceVersion, nil
}

// watch watches a kind until ctx ends.
func (s *Session) watch(ctx context.Context, k model.Kind) error {
	_, from, err := s.list(ctx, s.collection(k, "")+"?limit=1")
	if err != nil {
		return err
	}
	path := s.URL + s.collection(k, "") + "?watch=1&resourceVersion=" + from
	version, _ := strconv.ParseInt(from, 10, 64)
	s.saw(version)
	s.Pass(version)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	resp, err := s.Client.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // the response is an error
		return fmt.Errorf("the answer is %s", resp.Status)
	}
	s.watches.Go(func() {
		defer resp.Body.Close()
		s.follow(ctx, k, resp.Body)
	})
	return nil
}

func (s *Session) follow(ctx context.Context, k model.Kind, stream io.Reader) {
	for d := json.NewDecoder(stream); ; {
		e := raw{kind: k.Name}
		err := d.Decode(&e)
		if err == nil && e.Type == "ERROR" {
			err = errors.New(e.Object.Message)
		}
		if err != nil {
			if ctx.Err() == nil {
				s.fail(fmt.Errorf("watching %s: %w", k.Plural, err))
			}
			return
		}
		e.version, _ = strconv.ParseInt(e.Object.Metadata.ResourceVersion, 10, 64)
		_, mine := s.object(k.Name, e.Object.Metadata)
		s.add(e, mine && k.Name != namespaces.Name)
	}
}

func (s *Session) add(e raw, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mine {
		s.events = append(s.events, e)
	}
	if e.Type == model.Deleted && isSentinel(e.kind, e.Object.Metadata.Name) &&
		strings.HasPrefix(e.Object.Metadata.Namespace, s.prefix) {
		s.collected[e.Object.Metadata.Name] = true
	}
	s.ahead[e.version] = true
	s.advance()
	s.latest = max(s.latest, e.version)
	s.wake()
}

func (s *Session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = err
	}
	s.wake()
}

// wake wakes the goroutines that wait for a change. The caller holds the lock.
func (s *Session) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

// saw records that the server has reached a version.
func (s *Session) saw(version int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = max(s.latest, version)
}

// Latest returns the highest version in any response or event.
func (s *Session) Latest() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest
}

// Pass marks all versions up to one as shown. Versions without an event are those of other clients' objects.
func (s *Session) Pass(version int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.through = max(s.through, version)
	maps.DeleteFunc(s.ahead, func(v int64, _ bool) bool { return v <= s.through })
	s.advance()
}

// advance increases through while the next versions are in ahead. The caller holds the lock.
func (s *Session) advance() {
	for s.ahead[s.through+1] {
		s.through++
		delete(s.ahead, s.through)
	}
}

// Timeline has the events of the watches.
type Timeline struct {
	// Events are the events that have not been taken, in order.
	Events []model.Event
	// Whole reports whether the watches have shown every version from the session's beginning to the latest one, so no
	// event is missing. After a write of an object that the session does not watch, it is false until Pass.
	Whole bool
	// More is closed at the next change.
	More <-chan struct{}
}

// Timeline returns the events so far. The error is that of a watch that has ended.
func (s *Session) Timeline() (Timeline, error) {
	s.mu.Lock()
	slices.SortStableFunc(s.events, func(a, b raw) int { return int(a.version - b.version) })
	raws, err := slices.Clone(s.events), s.broken
	t := Timeline{Events: make([]model.Event, len(raws)), Whole: s.through >= s.latest, More: s.more}
	s.mu.Unlock()
	for i, e := range raws {
		o, _ := s.object(e.kind, e.Object.Metadata)
		t.Events[i] = model.Event{Type: e.Type, Object: o}
	}
	return t, err
}

// Take removes the first n events.
func (s *Session) Take(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = s.events[n:]
}
