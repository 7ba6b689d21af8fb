package protection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bubble runs a test in simulated time with the three controllers over a server in memory. When it
// ends, the controllers are stopped; a goroutine that one leaves behind fails the test.
func bubble(t *testing.T, o Options, test func(t *testing.T, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		stop := s.start(t, o)
		test(t, s)
		stop()
	})
}

// start runs the controllers until stop is called, which waits for them.
func (s *server) start(t *testing.T, o Options) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	rules := []Rule{Volumes(), Claims(), Classes()}
	done := make(chan struct{}, len(rules))
	for _, r := range rules {
		go func() {
			New(r, s, o).Run(ctx)
			done <- struct{}{}
		}()
	}
	synctest.Wait()
	return func() {
		cancel()
		for range rules {
			<-done
		}
	}
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func volume(name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func class(name string) *storagev1.VolumeAttributesClass {
	return &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// pod is one on a node that mounts claims.
func pod(name string, claims ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: corev1.PodSpec{NodeName: "n"}}
	for _, c := range claims {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: c, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c}}})
	}
	return p
}

func in(name string) Key { return Key{"ns", name} }

func of(name string) Key { return Key{Name: name} }

// state lists what there is of a kind, with its finalizers.
func (s *server) state(kind Kind) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for key, o := range s.objects {
		if key.kind == kind {
			out = append(out, fmt.Sprint(key.Name, o.GetFinalizers()))
		}
	}
	slices.Sort(out)
	return out
}

func (s *server) want(t *testing.T, kind Kind, want ...string) {
	t.Helper()
	synctest.Wait()
	if d := cmp.Diff(want, s.state(kind)); d != "" {
		t.Errorf("%vs (-want +got):\n%s", kind, d)
	}
}

func (s *server) count(prefix string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

func (s *server) setFail(fn func(string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = fn
}

// F-02: objects that were there before, and that are born without, get the finalizer.
func TestFinalizersAreGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.put(Claim, claim("old"))
		s.put(Volume, volume("old"))
		s.put(Class, class("old"))
		defer s.start(t, Options{})()
		s.put(Claim, claim("new"))
		s.want(t, Claim, "new[kubernetes.io/pvc-protection]", "old[kubernetes.io/pvc-protection]")
		s.want(t, Volume, "old[kubernetes.io/pv-protection]")
		s.want(t, Class, "old[kubernetes.io/vac-protection]")
		s.edit(Claim, in("new"), func(o Object) { o.SetFinalizers(nil) })
		s.want(t, Claim, "new[kubernetes.io/pvc-protection]", "old[kubernetes.io/pvc-protection]")
		asked := s.count("get ")
		time.Sleep(time.Hour)
		if n := s.count("get "); n != asked {
			t.Errorf("%d reads while nothing happened", n-asked)
		}
	})
}

// F-04: a claim goes with the last pod that mounts it.
func TestClaimWaitsForPods(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server) {
		s.put(Claim, claim("c"))
		s.put(Claim, claim("free"))
		s.put(Pod, pod("a", "c"))
		s.put(Pod, pod("b", "c", "other"))
		synctest.Wait()
		s.delete(Claim, in("c"))
		s.delete(Claim, in("free"))
		s.want(t, Claim, "c[kubernetes.io/pvc-protection]")
		s.delete(Pod, in("a"))
		s.want(t, Claim, "c[kubernetes.io/pvc-protection]")
		asked := s.count("users ")
		s.edit(Pod, in("b"), func(o Object) { o.(*corev1.Pod).Status.Phase = corev1.PodSucceeded })
		time.Sleep(time.Hour)
		if n := s.count("users "); n != asked {
			t.Errorf("%d reads of pods while none went", n-asked)
		}
		s.delete(Pod, in("b"))
		s.want(t, Claim)
	})
}

// F-05: the claim of an ephemeral volume goes when its pod has shut down, though a finalizer keeps
// the pod.
func TestEphemeralClaimGoesBeforeItsPod(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server) {
		p := pod("p")
		p.UID, p.Finalizers = "p-1", []string{"example.com/hold"}
		p.Spec.Volumes = []corev1.Volume{
			{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		}
		s.put(Pod, p)
		c, yes := claim("p-v"), true
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "p-1", Controller: &yes}}
		s.put(Claim, c)
		synctest.Wait()
		s.delete(Claim, in("p-v"))
		s.want(t, Claim, "p-v[kubernetes.io/pvc-protection]")
		s.delete(Pod, in("p")) // at once: the fake's pods have no grace period
		s.want(t, Claim)
		s.want(t, Pod, "p[example.com/hold]")
	})
}

// F-03: a volume goes when it is no longer bound.
func TestVolumeWaitsForItsPhase(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server) {
		s.put(Volume, volume("v"))
		synctest.Wait()
		phase := func(p corev1.PersistentVolumePhase) {
			s.edit(Volume, of("v"), func(o Object) { o.(*corev1.PersistentVolume).Status.Phase = p })
		}
		phase(corev1.VolumeBound)
		s.delete(Volume, of("v"))
		s.want(t, Volume, "v[kubernetes.io/pv-protection]")
		phase(corev1.VolumeReleased)
		s.want(t, Volume)
	})
}

// F-08: a class goes with the last claim and volume that refer to it.
func TestClassWaitsForClaimsAndVolumes(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server) {
		gold := "gold"
		c, v := claim("c"), volume("v")
		c.Spec.VolumeAttributesClassName, c.Status.CurrentVolumeAttributesClassName = &gold, &gold
		v.Spec.VolumeAttributesClassName = &gold
		s.put(Class, class("gold"))
		s.put(Claim, c)
		s.put(Volume, v)
		synctest.Wait()
		s.delete(Class, of("gold"))
		s.want(t, Class, "gold[kubernetes.io/vac-protection]")
		silver := "silver"
		s.edit(Claim, in("c"), func(o Object) {
			o.(*corev1.PersistentVolumeClaim).Spec.VolumeAttributesClassName = &silver
		})
		s.edit(Volume, of("v"), func(o Object) { o.(*corev1.PersistentVolume).Spec.VolumeAttributesClassName = &silver })
		s.want(t, Class, "gold[kubernetes.io/vac-protection]")
		s.edit(Claim, in("c"), func(o Object) {
			o.(*corev1.PersistentVolumeClaim).Status.CurrentVolumeAttributesClassName = &silver
		})
		s.want(t, Class)
	})
}

// The write is for the state of the decision. If a volume is bound between the decision and the
// write, it stays.
func TestWhatChangedIsJudgedAnew(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server) {
		s.put(Volume, volume("v"))
		synctest.Wait()
		s.setFail(func(r string) error {
			if r == "update PersistentVolume /v" {
				s.fail = nil
				o, _ := s.get(Volume, of("v"))
				o.(*corev1.PersistentVolume).Status.Phase = corev1.VolumeBound
				s.commit(Volume, of("v"), o)
			}
			return nil
		})
		s.delete(Volume, of("v"))
		time.Sleep(time.Hour)
		s.want(t, Volume, "v[kubernetes.io/pv-protection]")
	})
}

// What can't be read is in use, for all that is known (F-06).
func TestClaimStaysWhilePodsCannotBeRead(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server) {
		s.put(Claim, claim("c"))
		synctest.Wait()
		s.setFail(func(r string) error {
			if r == "users Pod ns/" {
				return errors.New("out of order")
			}
			return nil
		})
		s.delete(Claim, in("c"))
		s.put(Claim, claim("d")) // needs no pods
		time.Sleep(time.Hour)
		s.want(t, Claim, "c[kubernetes.io/pvc-protection]", "d[kubernetes.io/pvc-protection]")
		if n := s.count("users "); n < 15 || n > 25 { // 5 ms doubling to 1000 s
			t.Errorf("%d reads of pods in an hour", n)
		}
		s.setFail(nil)
		time.Sleep(backoff.Max)
		s.want(t, Claim, "d[kubernetes.io/pvc-protection]")
	})
}

// One read of the pods does for all claims that were deleted while a pass was under way.
func TestManyClaims(t *testing.T) {
	bubble(t, Options{Workers: 2}, func(t *testing.T, s *server) {
		var names []string
		for i := range 500 {
			names = append(names, fmt.Sprint("c-", i))
			s.put(Claim, claim(names[i]))
		}
		s.put(Pod, pod("p", names...))
		synctest.Wait()
		for _, name := range names {
			s.delete(Claim, in(name))
		}
		synctest.Wait()
		if n := len(s.state(Claim)); n != 500 {
			t.Fatalf("%d claims are left", n)
		}
		asked := s.count("users ")
		s.delete(Pod, in("p"))
		s.want(t, Claim)
		if n := s.count("users ") - asked; n > 10 { // 500 in passes over 64
			t.Errorf("%d reads of the pods", n)
		}
	})
}

// Changes while the watch is down are found when it continues.
func TestBrokenStreamsAreFollowedAgain(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server) {
		s.put(Claim, claim("c"))
		s.put(Pod, pod("p", "c"))
		synctest.Wait()
		s.delete(Claim, in("c"))
		synctest.Wait()
		s.setFail(func(r string) error {
			if strings.HasPrefix(r, "follow ") {
				return errors.New("down")
			}
			return nil
		})
		s.breakStreams()
		s.delete(Pod, in("p"))
		before := s.count("follow ")
		time.Sleep(time.Hour)
		s.want(t, Claim, "c[kubernetes.io/pvc-protection]")
		if n := s.count("follow ") - before; n > 3*80 { // 5 ms doubling to a minute, by three
			t.Errorf("%d tries to follow in an hour", n)
		}
		s.setFail(nil)
		time.Sleep(time.Minute)
		s.want(t, Claim)
	})
}

// A claim of the same name that is created meanwhile is not changed.
func TestRecreatedClaim(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server) {
		s.put(Claim, claim("c"))
		s.put(Pod, pod("p", "c"))
		synctest.Wait()
		s.delete(Claim, in("c"))
		synctest.Wait()
		s.edit(Claim, in("c"), func(o Object) { o.SetFinalizers([]string{"example.com/hold"}) })
		s.mu.Lock()
		s.commit(Claim, in("c"), nil)
		s.mu.Unlock()
		s.put(Claim, claim("c"))
		s.delete(Pod, in("p"))
		time.Sleep(time.Hour)
		s.want(t, Claim, "c[kubernetes.io/pvc-protection]")
	})
}
