package migration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var things = Resource{Group: "example.com", Resource: "things"}

// server is an API server of migrations, in memory. All methods may be called at once.
type server struct {
	mu         sync.Mutex // guards everything below
	rv         int
	migrations map[string]*Migration
	items      []Item
	target     Target
	definition *Definition
	// answers are the errors of the next rewrites of an object, by name; rewritten are the names of those that succeeded.
	answers   map[string][]error
	rewritten []string
	// marks are what was applied to the definition, and statuses what was written to migrations.
	marks, statuses []string
	wake            chan struct{}
}

func newServer() *server {
	return &server{rv: 100, migrations: map[string]*Migration{}, target: Migratable, answers: map[string][]error{},
		wake: make(chan struct{}, 1)}
}

func (s *server) event() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// create creates a migration; seen is its status.resourceVersion.
func (s *server) create(name, seen string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rv++
	m := &Migration{}
	m.Name, m.ResourceVersion, m.Spec.Resource = name, strconv.Itoa(s.rv), things
	m.CreationTimestamp, m.Status.ResourceVersion = metav1.NewTime(time.Now()), seen
	s.migrations[name] = m
	s.event()
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.event()
}

func (s *server) Follow(ctx context.Context, sink func(Resource)) error {
	for {
		sink(things)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.wake:
		}
	}
}

func (s *server) Migrations(context.Context, Resource) (all []*Migration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.migrations {
		all = append(all, m.DeepCopy())
	}
	return all, nil
}

func (s *server) UpdateStatus(_ context.Context, m *Migration) (*Migration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.migrations[m.Name]
	switch {
	case stored == nil:
		return nil, apierrors.NewNotFound(schema.GroupResource{}, m.Name)
	case stored.ResourceVersion != m.ResourceVersion:
		return nil, apierrors.NewConflict(schema.GroupResource{}, m.Name, errors.New("changed"))
	}
	s.rv++
	m = m.DeepCopy()
	m.ResourceVersion = strconv.Itoa(s.rv)
	s.migrations[m.Name] = m
	var all []string
	for _, c := range m.Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s", c.Type, c.Status))
	}
	s.statuses = append(s.statuses, strings.Join(append([]string{m.Name}, all...), " "))
	s.event()
	return m.DeepCopy(), nil
}

func (s *server) Target(Resource) Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.target
}

func (s *server) Revision(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.Itoa(s.rv), nil
}

func (s *server) Items(context.Context, Resource) ([]Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Item{}, s.items...), nil
}

func (s *server) Rewrite(_ context.Context, _ Resource, i Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next := s.answers[i.Name]; len(next) > 0 {
		s.answers[i.Name] = next[1:]
		return next[0]
	}
	s.rewritten = append(s.rewritten, i.Name)
	return nil
}

func (s *server) Definition(context.Context, Resource) (*Definition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.definition.DeepCopy(), nil
}

func (s *server) Mark(
	_ context.Context, d *Definition, c apiextensionsv1.CustomResourceDefinitionCondition, stored []string,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = append(s.marks, fmt.Sprintf("%s %s %v", c.Status, c.Message, stored))
	s.definition.Status.StoredVersions = stored
	s.definition.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{c}
	s.event()
	return nil
}

// running runs the controller over a server while do acts. wait lets a time pass.
func running(t *testing.T, s *server, do func(wait func(time.Duration))) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		s.wake = make(chan struct{}, 1)
		go func() {
			defer close(ended)
			Run(ctx, s, slog.New(slog.DiscardHandler))
		}()
		do(func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
		})
		cancel()
		<-ended
	})
}

// copy returns a list as it is while the controller runs.
func (s *server) copy(list *[]string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(*list)
}

// conditions are those of a migration.
func (s *server) conditions(name string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.migrations[name].Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return out
}

func same(t *testing.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// definition is that of things, which are stored in v2 and were in v1.
func definition() *Definition {
	d := &Definition{}
	d.Generation = 3
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1"}, {Name: "v2", Storage: true}}
	d.Status.StoredVersions = []string{"v1", "v2"}
	return d
}

// TestRewrites: what is not newer than the migration is rewritten once, and what was changed or deleted is passed over.
func TestRewrites(t *testing.T) {
	s := newServer()
	s.definition = definition()
	s.items = []Item{{"ns", "a", "7"}, {"ns", "b", "8"}, {"ns", "c", "9"}, {"", "d", "101"}, {"", "newer", "102"}}
	s.answers["b"] = []error{apierrors.NewConflict(schema.GroupResource{}, "b", errors.New("changed"))}
	s.answers["c"] = []error{apierrors.NewNotFound(schema.GroupResource{}, "c")}
	running(t, s, func(wait func(time.Duration)) {
		s.create("m", "101")
		wait(time.Minute)
	})
	same(t, []string{"a", "d"}, s.rewritten)
	same(t, []string{"m Running=True", "m Running=False Succeeded=True"}, s.statuses)
	same(t, []string{"Running=False MigrationCompleted: The migration has completed",
		"Succeeded=True StorageVersionMigrationSucceeded: The migration has succeeded; number of objects: 4",
	}, s.conditions("m"))
	same(t, []string{"True Migration m is running [v1 v2]",
		"False The migration has succeeded and the stored versions have been updated [v2]"}, s.marks)
}

// TestStartsAgain: an error that may pass is noted, and the migration starts again.
func TestStartsAgain(t *testing.T) {
	s := newServer()
	s.items = []Item{{"", "a", "7"}, {"", "b", "8"}}
	busy := apierrors.NewTooManyRequests("busy", 20)
	s.answers["b"] = []error{busy, busy}
	running(t, s, func(wait func(time.Duration)) {
		s.create("m", "")
		wait(19 * time.Second)
		same(t, []string{"Running=True MigrationRunning: " +
			"The migration is running; 1 of 2 objects remain, and it starts again after an error: busy"}, s.conditions("m"))
		wait(20 * time.Second)
		same(t, []string{"a", "a"}, s.copy(&s.rewritten))
		wait(20 * time.Second)
	})
	same(t, []string{"a", "a", "a", "b"}, s.rewritten)
	same(t, []string{"m Running=True", "m Running=True", "m Running=True", "m Running=False Succeeded=True"}, s.statuses)
}

// TestFails: any other error ends the migration, and the rest of the objects is not touched.
func TestFails(t *testing.T) {
	s := newServer()
	s.definition = definition()
	s.items = []Item{{"", "a", "7"}, {"", "b", "8"}}
	s.answers["a"] = []error{apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "a", errors.New("no"))}
	running(t, s, func(wait func(time.Duration)) {
		s.create("m", "")
		wait(time.Minute)
	})
	same(t, []string(nil), s.rewritten)
	same(t, []string{"Running=False MigrationCompleted: The migration has completed",
		`Failed=True StorageVersionMigrationFailed: migration encountered unhandled error: things "a" is forbidden: no`},
		s.conditions("m"))
	same(t, []string{"True Migration m is running [v1 v2]", "False The migration has failed [v2]"}, s.marks)
}

// TestOneAtATime: the migrations of a resource run one after the other, by age and name.
func TestOneAtATime(t *testing.T) {
	s := newServer()
	running(t, s, func(wait func(time.Duration)) {
		s.set(func() { s.target = Unserved })
		s.create("z", "")
		wait(time.Second)
		s.create("b", "")
		s.create("a", "")
		wait(time.Second)
		s.set(func() { s.target = Migratable })
		wait(time.Minute)
	})
	// The second status of z, and the first ones of the others, are the resource version.
	same(t, []string{"z Running=True", "z Running=True", "a", "b", "z Running=False Succeeded=True",
		"a Running=True", "a Running=False Succeeded=True", "b Running=True", "b Running=False Succeeded=True"}, s.statuses)
}

// TestDefinitionChanges: the stored versions stay if the definition has changed since the migration began.
func TestDefinitionChanges(t *testing.T) {
	s := newServer()
	s.definition = definition()
	s.items = []Item{{"", "a", "7"}}
	s.answers["a"] = []error{apierrors.NewInternalError(errors.New("not now"))}
	running(t, s, func(wait func(time.Duration)) {
		s.create("m", "")
		wait(time.Second / 2)
		s.set(func() { s.definition.Generation++ })
		wait(time.Minute)
	})
	same(t, []string{"True Migration m is running [v1 v2]", "False The migration has succeeded but the stored versions " +
		"have not been updated due to a generation mismatch [v1 v2]"}, s.marks)
}

// TestUnserved: a migration waits a minute for its resource, with the condition Running.
func TestUnserved(t *testing.T) {
	s := newServer()
	s.target = Unserved
	running(t, s, func(wait func(time.Duration)) {
		s.create("m", "")
		wait(time.Minute - time.Second)
		same(t, []string{"m Running=True"}, s.copy(&s.statuses))
		wait(2 * time.Second)
		s.set(func() { s.target = Migratable })
		wait(time.Hour)
	})
	same(t, []string{"Running=False MigrationCompleted: The migration has completed", "Failed=True " +
		"StorageVersionMigrationFailed: migration encountered unhandled error: unable to obtain GVR from discovery",
	}, s.conditions("m"))
	if v := s.migrations["m"].Status.ResourceVersion; v != "" {
		t.Errorf("resourceVersion %s", v)
	}
}

// TestObstacle: only a resource that is not served is waited for.
func TestObstacle(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		target Target
		age    time.Duration
		fails  bool
		wait   time.Duration
	}{
		{Migratable, 0, false, 0},
		{Migratable, time.Hour, false, 0},
		{Fixed, 0, true, 0},
		{Unserved, 0, false, time.Minute},
		{Unserved, 59 * time.Second, false, time.Second},
		{Unserved, time.Minute, true, 0},
	} {
		m := &storagemigrationv1.StorageVersionMigration{}
		m.CreationTimestamp = metav1.NewTime(now.Add(-c.age))
		if failure, wait := obstacle(c.target, m, now); (failure != "") != c.fails || wait != c.wait {
			t.Errorf("%d after %v: %q, %v", c.target, c.age, failure, wait)
		}
	}
}

// TestOlder: resource versions are compared as numbers.
func TestOlder(t *testing.T) {
	got, err := older([]Item{{"", "a", "9"}, {"", "b", "10"}, {"", "c", "11"}}, "10")
	if d := cmp.Diff([]Item{{"", "a", "9"}, {"", "b", "10"}}, got); d != "" || err != nil {
		t.Error(err, d)
	}
	if _, err := older([]Item{{"", "a", "9"}}, "x"); err == nil {
		t.Error("x is no resource version")
	}
}
