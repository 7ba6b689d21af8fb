package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// raw is an event in the server's terms: the symbol of its uid may not be known yet.
type raw struct {
	kind    string
	version int64
	Type    model.EventType `json:"type"`
	Object  struct {
		Metadata metadata `json:"metadata"`
		Message  string   `json:"message"`
	} `json:"object"`
}

// list lists a kind everywhere and returns the version of the list.
func (s *Session) list(ctx context.Context, k model.Kind) ([]metadata, string, error) {
	code, body, err := s.do(ctx, Request{Method: "GET", Path: s.collection(k, "")})
	if err != nil {
		return nil, "", err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || code != http.StatusOK {
		return nil, "", fmt.Errorf("%d %.200s", code, body)
	}
	items := make([]metadata, len(a.Items))
	for i := range a.Items {
		items[i] = a.Items[i].Metadata
	}
	return items, a.Metadata.ResourceVersion, nil
}

// watch follows a kind until ctx is done.
func (s *Session) watch(ctx context.Context, k model.Kind) error {
	_, from, err := s.list(ctx, k)
	if err != nil {
		return err
	}
	path := s.base + s.collection(k, "") + "?watch=1&resourceVersion=" + from
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // its answer is an error
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
		if _, mine := s.object(k.Name, e.Object.Metadata); mine {
			e.version, _ = strconv.ParseInt(e.Object.Metadata.ResourceVersion, 10, 64)
			s.add(e)
		}
	}
}

func (s *Session) add(e raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
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

// wake tells those who wait. The lock is held.
func (s *Session) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

// saw remembers that the server has come to a version.
func (s *Session) saw(version int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = max(s.latest, version)
}

// Latest is the highest version that an answer or event has shown.
func (s *Session) Latest() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest
}

// Events returns, in order, the events that haven't been taken, and a channel that is closed when
// there is more. An error is that of a watch that ended.
func (s *Session) Events() ([]model.Event, <-chan struct{}, error) {
	s.mu.Lock()
	slices.SortStableFunc(s.events, func(a, b raw) int { return int(a.version - b.version) })
	raws, more, err := slices.Clone(s.events), s.more, s.broken
	s.mu.Unlock()
	events := make([]model.Event, len(raws))
	for i, e := range raws {
		o, _ := s.object(e.kind, e.Object.Metadata)
		events[i] = model.Event{Type: e.Type, Object: o}
	}
	return events, more, err
}

// Take removes the first n events.
func (s *Session) Take(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = s.events[n:]
}
