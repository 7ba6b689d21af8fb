package endpoints_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/storage"
)

const hookedPath = "/api/v1/namespaces/default/configmaps"

// hooked starts a server whose ConfigMaps have the hooks.
func hooked(t *testing.T, h entry.Hooks) *apiservertest.Server {
	s := apiservertest.Start(t, nil)
	configMaps := *s.Types.Lookup("", "v1", "configmaps")
	configMaps.Hooks = h
	s.Types.Add(&configMaps)
	return s
}

// TestBeginAndFinish: a write of the object calls Begin once, fills in a copy for each attempt, and calls Finish once
// with its outcome.
func TestBeginAndFinish(t *testing.T) {
	var events []string
	event := func(format string, args ...any) { events = append(events, fmt.Sprintf(format, args...)) }
	var s *apiservertest.Server
	s = hooked(t, entry.Hooks{Begin: func(ctx context.Context, w entry.Write, obj, old entry.Object) (entry.Begun, error) {
		name := obj.GetName()
		switch {
		case name == "other":
			return entry.Begun{}, nil
		case name == "rejected":
			return entry.Begun{}, apierrors.NewBadRequest("begin failed")
		}
		event("begin %s old=%v dry=%v", name, old != nil, w.DryRun())
		attempts := 0
		fill := func(ctx context.Context, obj entry.Object) ([]storage.Guard, error) {
			attempts++
			event("fill filled=%v", obj.GetAnnotations()["filled"] != "")
			obj.SetAnnotations(map[string]string{"filled": fmt.Sprint(attempts)})
			if err := w.Fresh(ctx); err != nil {
				return nil, err
			}
			guard, err := w.Scan(corev1.SchemeGroupVersion.WithResource("configmaps"), nil,
				func(*storage.Object, []string) {})
			if name == "overtaken" && attempts == 1 {
				s.Do("POST", hookedPath, `{"metadata":{"name":"other"}}`)
			}
			if name == "panics" {
				panic("in a hook")
			}
			return []storage.Guard{guard}, err
		}
		return entry.Begun{Fill: fill, Finish: func(err error) {
			switch {
			case apierrors.IsInvalid(err):
				err = errors.New("invalid")
			case apierrors.IsAlreadyExists(err):
				err = errors.New("exists")
			}
			event("finish %v", err)
		}}, nil
	}})
	for _, c := range []struct {
		method, path, body string
		code               int
		events             string
	}{
		{"POST", "", `{"metadata":{"name":"a"}}`, 201, "begin a old=false dry=false, fill filled=false, finish <nil>"},
		{"POST", "", `{"metadata":{"name":"a"}}`, 409, "begin a old=false dry=false, fill filled=false, finish exists"},
		{"POST", "?dryRun=All", `{"metadata":{"name":"b"}}`, 201,
			"begin b old=false dry=true, fill filled=false, finish <nil>"},
		{"PUT", "/a", `{"metadata":{"name":"a"}}`, 200, "begin a old=true dry=false, fill filled=false, finish <nil>"},
		{"POST", "", `{"metadata":{"name":"_"}}`, 422, "begin _ old=false dry=false, fill filled=false, finish invalid"},
		{"POST", "", `{"metadata":{"name":"rejected"}}`, 400, ""},
		{"POST", "", `{"metadata":{"name":"overtaken"}}`, 201,
			"begin overtaken old=false dry=false, fill filled=false, fill filled=false, finish <nil>"},
		{"POST", "", `{"metadata":{"name":"panics"}}`, 500,
			"begin panics old=false dry=false, fill filled=false, finish the write panicked"},
	} {
		events = nil
		a := s.Do(c.method, hookedPath+c.path, c.body)
		if got := strings.Join(events, ", "); a.Code != c.code || got != c.events {
			t.Errorf("%s %s %s: %d, not %d\n got %s\nwant %s", c.method, c.path, c.body, a.Code, c.code, got, c.events)
		}
	}
	if n := s.Do("GET", hookedPath+"/overtaken", nil).Object().GetAnnotations()["filled"]; n != "2" {
		t.Errorf("the object of attempt %s is stored", n)
	}
}

// TestHooksOfTwoWritesDoNotOverlap: only one of two writes at a time is between Begin and Finish.
func TestHooksOfTwoWritesDoNotOverlap(t *testing.T) {
	waits := make(chan struct{})
	var holders atomic.Int32
	s := hooked(t, entry.Hooks{Begin: func(ctx context.Context, w entry.Write, obj, _ entry.Object) (entry.Begun, error) {
		if obj.GetName() != "first" {
			close(waits)
		}
		release, err := w.Turn(ctx)
		if err != nil {
			return entry.Begun{}, fmt.Errorf("waiting: %w", err)
		}
		if n := holders.Add(1); n != 1 {
			t.Errorf("%d writes are between begin and finish", n)
		}
		end := func(error) {
			holders.Add(-1)
			release()
		}
		if obj.GetName() == "first" {
			<-waits
		}
		return entry.Begun{Finish: end}, nil
	}})
	done := make(chan int)
	go func() { done <- s.Do("POST", hookedPath, `{"metadata":{"name":"first"}}`).Code }()
	second := s.Do("POST", hookedPath, `{"metadata":{"name":"second"}}`).Code
	if first := <-done; first != 201 || second != 201 {
		t.Errorf("%d and %d", first, second)
	}
}

// TestCreateHook: the hook of a resource that is not stored, or of a subresource, handles a POST. The response is the
// body with its kind, or a Status if the hook returns nil. Without a hook the response is 405.
func TestCreateHook(t *testing.T) {
	s := apiservertest.Start(t, nil)
	selfSubjectReviews := *s.Types.Lookup("authentication.k8s.io", "v1", "selfsubjectreviews")
	replace := func(create entry.HandlePost) {
		next := selfSubjectReviews
		next.Hooks.Create = create
		s.Types.Add(&next)
	}
	const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	for _, c := range []struct {
		create entry.HandlePost
		code   int
		kind   string
	}{
		{func(_ context.Context, r entry.Request, body runtime.Object) (runtime.Object, error) {
			return body, nil
		},
			201, "SelfSubjectReview"},
		{func(context.Context, entry.Request, runtime.Object) (runtime.Object, error) { return nil, nil }, 201, "Status"},
		{func(context.Context, entry.Request, runtime.Object) (runtime.Object, error) {
			return nil, apierrors.NewBadRequest("no")
		}, 400, "Status"},
		{nil, 405, "Status"},
	} {
		replace(c.create)
		if a := s.Do("POST", path, `{}`); a.Code != c.code || a.Object().GetKind() != c.kind {
			t.Errorf("%d, not %d: %s", a.Code, c.code, a.Body)
		}
	}
}
