package unused

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// server is an API server of pods and claims, in memory.
type server struct {
	mu     sync.Mutex // guards everything below
	rv     int
	pods   map[Key]*corev1.Pod
	claims map[Key]*corev1.PersistentVolumeClaim
	// fail, if set, may reject a request: "get c".
	fail func(request string) error
	gets int
	// events wait to be sent; broken ends Follow.
	events []Event
	wake   chan struct{}
	broken bool
}

func (s *server) Follow(ctx context.Context, sink func(Event)) error {
	s.mu.Lock()
	events := []Event{{Type: Began}}
	for key, p := range s.pods {
		events = append(events, Event{Type: Pod, Key: key, UID: p.UID, References: References(p)})
	}
	events = append(events, Event{Type: Complete})
	for key, c := range s.claims {
		if Eligible(c) {
			events = append(events, Event{Type: Claim, Key: key})
		}
	}
	s.events, s.broken = nil, false
	s.mu.Unlock()
	for {
		for _, e := range events {
			sink(e)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.wake:
		}
		s.mu.Lock()
		events, s.events = s.events, nil
		broken := s.broken
		s.mu.Unlock()
		if broken {
			return errors.New("stream broken")
		}
	}
}

// send sends an event; the lock is held.
func (s *server) send(e Event) {
	s.events = append(s.events, e)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *server) request(r string) error {
	if s.fail != nil {
		return s.fail(r)
	}
	return nil
}

func notFound(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "persistentvolumeclaims"}, name)
}

func (s *server) Get(_ context.Context, key Key) (*corev1.PersistentVolumeClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets++
	if err := s.request("get " + key.Name); err != nil {
		return nil, err
	}
	c := s.claims[key]
	if c == nil {
		return nil, notFound(key.Name)
	}
	return c.DeepCopy(), nil
}

func (s *server) UpdateStatus(_ context.Context, c *corev1.PersistentVolumeClaim) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.request("update " + c.Name); err != nil {
		return err
	}
	switch old := s.claims[Key{c.Namespace, c.Name}]; {
	case old == nil:
		return notFound(c.Name)
	case old.ResourceVersion != c.ResourceVersion:
		return apierrors.NewConflict(schema.GroupResource{Resource: "persistentvolumeclaims"}, c.Name, errors.New("stale"))
	}
	s.store(c.DeepCopy())
	return nil
}

func (s *server) store(c *corev1.PersistentVolumeClaim) {
	s.rv++
	c.ResourceVersion = strconv.Itoa(s.rv)
	s.claims[Key{c.Namespace, c.Name}] = c
	if Eligible(c) {
		s.send(Event{Type: Claim, Key: Key{c.Namespace, c.Name}})
	}
}

func (s *server) put(c *corev1.PersistentVolumeClaim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(c.DeepCopy())
}

func (s *server) run(p *corev1.Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := Key{p.Namespace, p.Name}
	s.pods[key] = p
	s.send(Event{Type: Pod, Key: key, UID: p.UID, References: References(p)})
}

func (s *server) end(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pods, Key{"ns", name})
	s.send(Event{Type: Pod, Key: Key{"ns", name}})
}

// condition returns the condition of a claim, with the seconds since the start; "" if it has none.
func (s *server) condition(name string) string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.claims[Key{"ns", name}].Status.Conditions {
		if c.Type == corev1.PersistentVolumeClaimUnused {
			return string(c.Status) + " " + c.Reason + " " + strconv.Itoa(int(c.LastTransitionTime.Sub(start).Seconds()))
		}
	}
	return ""
}

func (s *server) want(t *testing.T, claim, condition string) {
	t.Helper()
	if got := s.condition(claim); got != condition {
		t.Errorf("%s has %q, want %q", claim, got, condition)
	}
}

// start is the time at which bubbles begin.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// bubble runs a test in simulated time. When it ends, the controller is stopped.
func bubble(t *testing.T, test func(t *testing.T, s *server)) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{pods: map[Key]*corev1.Pod{}, claims: map[Key]*corev1.PersistentVolumeClaim{},
			wake: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			Run(ctx, s, slog.New(slog.DiscardHandler))
		}()
		test(t, s)
		cancel()
		<-done
	})
}

func claim(name string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Status: corev1.PersistentVolumeClaimStatus{Phase: phase}}
}

// TestLife (V-083): the condition follows the pods, and its time is that of the last change of its status.
func TestLife(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		s.put(claim("c", corev1.ClaimPending))
		s.want(t, "c", "")
		time.Sleep(time.Second)
		s.put(claim("c", corev1.ClaimBound))
		s.want(t, "c", "True NoPodsUsingPVC 1")
		time.Sleep(time.Second)
		s.run(pod("a", corev1.PodPending, "c")) // it has no node
		s.want(t, "c", "False PodUsingPVC 2")
		time.Sleep(time.Second)
		s.run(pod("b", corev1.PodRunning, "other", "c"))
		s.run(pod("a", corev1.PodRunning, "c"))
		s.end("b")
		s.want(t, "c", "False PodUsingPVC 2")
		asked := s.gets
		s.run(pod("a", corev1.PodSucceeded, "c")) // it exists, but has finished
		s.want(t, "c", "True NoPodsUsingPVC 3")
		time.Sleep(time.Hour)
		synctest.Wait()
		if s.gets > asked+2 { // one for the pod, one for the status that was written
			t.Errorf("%d reads for one pod that finished", s.gets-asked)
		}
	})
}

// TestWritten: the condition is like upstream's, others are kept, and a condition with the right status is left alone.
func TestWritten(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		c := claim("c", corev1.ClaimBound)
		resizing := corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimResizing, Status: "True"}
		c.Status.Conditions = []corev1.PersistentVolumeClaimCondition{resizing}
		s.put(c)
		synctest.Wait()
		want := []corev1.PersistentVolumeClaimCondition{resizing, {Type: "Unused", Status: "True",
			LastTransitionTime: metav1.NewTime(start), Reason: "NoPodsUsingPVC",
			Message: "No pods are currently referencing this PVC"}}
		got := s.claims[Key{"ns", "c"}]
		equal := cmp.Comparer(func(a, b metav1.Time) bool { return a.Time.Equal(b.Time) })
		if d := cmp.Diff(want, got.Status.Conditions, equal); d != "" {
			t.Error(d)
		}
		got = got.DeepCopy()
		got.Status.Conditions[0], got.Status.Conditions[1] = got.Status.Conditions[1], got.Status.Conditions[0]
		got.Status.Conditions[0].Message = "another"
		s.put(got)
		s.run(pod("p", corev1.PodRunning, "c"))
		synctest.Wait()
		want = []corev1.PersistentVolumeClaimCondition{{Type: "Unused", Status: "False",
			LastTransitionTime: metav1.NewTime(start), Reason: "PodUsingPVC",
			Message: "A pod is currently referencing this PVC"}, resizing}
		if d := cmp.Diff(want, s.claims[Key{"ns", "c"}].Status.Conditions, equal); d != "" {
			t.Error(d)
		}
	})
}

// TestNotWritten: claims that are not bound, or are being deleted, keep what they have. A client's change is undone.
func TestNotWritten(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		lost, dying := claim("lost", corev1.ClaimLost), claim("dying", corev1.ClaimBound)
		dying.DeletionTimestamp = &metav1.Time{Time: start}
		s.put(lost)
		s.put(dying)
		s.run(pod("p", corev1.PodRunning, "lost", "dying", "missing"))
		s.want(t, "lost", "")
		s.want(t, "dying", "")
		s.put(claim("c", corev1.ClaimBound))
		s.want(t, "c", "True NoPodsUsingPVC 0")
		s.put(claim("c", corev1.ClaimBound)) // without the condition
		s.want(t, "c", "True NoPodsUsingPVC 0")
	})
}

// TestEphemeral: the claim of an ephemeral volume is used by the pod that controls it, and by no other of its name.
func TestEphemeral(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		yes := true
		own := func(owner string) *corev1.PersistentVolumeClaim {
			c := claim("p-e", corev1.ClaimBound)
			c.OwnerReferences = []metav1.OwnerReference{{UID: pod(owner, "").UID, Controller: &yes}}
			return c
		}
		s.run(pod("p", corev1.PodRunning, "+e"))
		s.put(own("other"))
		s.want(t, "p-e", "True NoPodsUsingPVC 0")
		s.put(own("p"))
		s.want(t, "p-e", "False PodUsingPVC 0")
		s.end("p")
		s.want(t, "p-e", "True NoPodsUsingPVC 0")
	})
}

// TestBroken: what happens while the watch is down is found when it continues, and nothing is decided before all pods
// are known.
func TestBroken(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		s.put(claim("c", corev1.ClaimBound))
		s.put(claim("d", corev1.ClaimBound))
		s.run(pod("p", corev1.PodRunning, "c"))
		s.want(t, "c", "False PodUsingPVC 0")
		s.want(t, "d", "True NoPodsUsingPVC 0")
		s.mu.Lock()
		s.broken = true
		s.send(Event{})
		delete(s.pods, Key{"ns", "p"})
		s.pods[Key{"ns", "q"}] = pod("q", corev1.PodRunning, "d")
		s.mu.Unlock()
		time.Sleep(time.Minute)
		if got := s.condition("c"); got[:4] != "True" {
			t.Errorf("c has %s", got)
		}
		if got := s.condition("d"); got[:5] != "False" {
			t.Errorf("d has %s", got)
		}
	})
	c := &controller{}
	c.observe(Event{Type: Began})
	c.observe(Event{Type: Complete})
	p := Event{Type: Pod, Key: Key{"ns", "p"}, References: []Reference{{Claim: "c"}}}
	if got := c.observe(p); !cmp.Equal(got, []Key{{"ns", "c"}}) {
		t.Errorf("a new pod concerns %v", got)
	}
	c.observe(Event{Type: Began})
	if !c.users(Key{"ns", "c"}).any {
		t.Error("a pod is forgotten before all pods were sent again")
	}
	if got := c.observe(p); got != nil {
		t.Errorf("passes over %v before all pods are known", got)
	}
	c.observe(Event{Type: Complete})
	if !c.users(Key{"ns", "c"}).any {
		t.Error("a pod that was sent again is unknown")
	}
}

// TestFailures: a conflict is decided again on the newer state; an error is retried.
func TestFailures(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		s.fail = func(r string) error {
			if r == "update c" {
				s.fail = nil
				s.store(s.claims[Key{"ns", "c"}].DeepCopy()) // a conflict
			}
			return nil
		}
		s.put(claim("c", corev1.ClaimBound))
		time.Sleep(time.Second)
		s.want(t, "c", "True NoPodsUsingPVC 0")
		s.mu.Lock()
		s.fail = func(string) error { return errors.New("out of order") }
		s.mu.Unlock()
		s.run(pod("p", corev1.PodRunning, "c"))
		time.Sleep(time.Minute)
		s.want(t, "c", "True NoPodsUsingPVC 0")
		s.mu.Lock()
		s.fail = nil
		s.mu.Unlock()
		time.Sleep(backoff.Max)
		if got := s.condition("c"); got[:5] != "False" {
			t.Errorf("c has %s", got)
		}
	})
}
