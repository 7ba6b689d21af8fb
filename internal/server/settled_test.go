package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// settling is a server with simulated pods and its plain port.
type settling struct {
	t testing.TB
	*Server
}

func startSettling(t testing.TB, change ...func(*Config)) *settling {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	c := config()
	c.Simulate, c.Insecure = true, Address{Host: "127.0.0.1", Port: -1}
	for _, f := range change {
		f(&c)
	}
	s, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return &settling{t, s}
}

// object is a JSON object.
type object = map[string]any

// do sends a request, and returns the status code and the response. The server must not fail.
func (s *settling) do(method, path string, body any) (code int, answer []byte) {
	s.t.Helper()
	a, err := apiservertest.Send(http.DefaultClient, method, s.InsecureURL()+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Code, a.Body
}

// expect sends a request whose response must have the code, and contain the texts.
func (s *settling) expect(want int, method, path string, body any, texts ...string) {
	s.t.Helper()
	code, data := s.do(method, path, body)
	for _, text := range append(texts, "") {
		if code != want || !strings.Contains(string(data), text) {
			s.t.Errorf("%s %s: %d %s, want %d and %q", method, path, code, data, want, text)
		}
	}
}

// settled waits, and checks that no other revision is there.
func (s *settling) settled() settledAnswer {
	s.t.Helper()
	code, data := s.do("GET", "/kubecascade/v1/settled?timeout=60s", nil)
	var answer settledAnswer
	if err := json.Unmarshal(data, &answer); err != nil || code != http.StatusOK || !answer.Settled {
		s.t.Fatalf("settled: %d %s %v", code, data, err)
	}
	if after := s.since(answer.Revision); len(after) > 0 && !answer.isOver() {
		s.t.Fatalf("settled at %d, and then %s", answer.Revision, after)
	}
	return answer
}

// isOver reports whether a controller may have done meanwhile what it waited for.
func (a *settledAnswer) isOver() bool { return len(a.Waits) > 0 && !a.Waits[0].Until.After(time.Now()) }

// heartbeat reports whether a simulated kubelet renewed the Lease of its Node, which settled does not wait for.
func heartbeat(e *cache.Event) bool {
	return strings.HasPrefix(e.Object.Key, "/registry/leases/"+corev1.NamespaceNodeLease+"/")
}

// since lists the events after a revision, up to the store's.
func (s *settling) since(revision int64) (out []string) {
	s.t.Helper()
	now, err := s.data.store.Revision(s.t.Context())
	if err == nil {
		err = s.data.cache.Wait(s.t.Context(), now)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	w, err := s.data.cache.Timeline(revision)
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		events, _, err := w.Poll()
		if err != nil {
			s.t.Fatal(err)
		}
		if len(events) == 0 {
			return out
		}
		for _, e := range events {
			if !heartbeat(e) {
				out = append(out, fmt.Sprintf("%d %v %s", e.Revision, e.Type, e.Object.Key))
			}
		}
	}
}

const sentinels = "sentinels"

// watch waits for the end of a Job that is deleted a second after it has finished, and checks that nothing but it and
// its pod changes until then. calm is false if a controller may have done what it waited for.
func (s *settling) watch(number int) (calm bool) {
	s.t.Helper()
	answer := s.settled()
	from := answer.Revision
	name := fmt.Sprintf("sentinel-%d", number)
	job := newJob(name)
	job["spec"].(object)["ttlSecondsAfterFinished"] = 1
	s.expect(http.StatusCreated, "POST", "/apis/batch/v1/namespaces/"+sentinels+"/jobs", job)
	w, err := s.data.cache.Timeline(from)
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		events, _, err := w.Next(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range events {
			if e.Object.Meta.Namespace != sentinels && !heartbeat(e) {
				if answer.isOver() {
					return false
				}
				s.t.Fatalf("after settling at %d: %v", from, s.since(from))
			}
			if e.Type == cache.Deleted && e.Object.Meta.Kind == "Job" && e.Object.Meta.Name == name {
				return true
			}
		}
	}
}

func named(name string, meta object) object {
	all := object{"name": name}
	for k, v := range meta {
		all[k] = v
	}
	return object{"metadata": all}
}

func newTemplate(labels object) object {
	return object{"metadata": object{"labels": labels},
		"spec": object{"containers": []object{{"name": "c", "image": "i",
			"resources": object{"requests": object{"cpu": "1m"}}}}}}
}

// specified returns an object with a spec.
func specified(name string, spec object) object {
	return object{"metadata": object{"name": name}, "spec": spec}
}

func newJob(name string) object {
	template := newTemplate(object{})
	template["spec"].(object)["restartPolicy"] = "Never"
	return specified(name, object{"template": template})
}

// newDefinition returns a CRD of objects with any content.
func newDefinition(plural, kind, scope string) object {
	schema := object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	return specified(plural+".example.com", object{"group": "example.com", "scope": scope,
		"names":    object{"plural": plural, "kind": kind},
		"versions": []object{{"name": "v1", "served": true, "storage": true, "schema": schema}}})
}

func newSet(name string, replicas int) object {
	labels := object{"app": name}
	return specified(name,
		object{"replicas": replicas, "selector": object{"matchLabels": labels}, "template": newTemplate(labels)})
}

// operations are random requests. Objects have few names, so that requests meet what others have left.
type operations struct {
	*settling
	rand *rand.Rand
	// uids are those of some objects, with the references to them.
	owners []object
}

func (o *operations) pick(of ...string) string { return of[o.rand.IntN(len(of))] }

func (o *operations) namespace() string { return o.pick("a", "b", "c") }

func (o *operations) name() string { return o.pick("x", "y", "z", "v", "w") }

// send sends a request that may fail because of what is there, and keeps the object as an owner.
func (o *operations) send(method, path string, body any) string {
	code, answer := o.do(method, path, body)
	if code >= 500 {
		o.t.Fatalf("%s %s: %d %s", method, path, code, answer)
	}
	var m metav1.PartialObjectMetadata
	if json.Unmarshal(answer, &m) == nil && code == http.StatusCreated {
		o.owners = append(o.owners, object{"apiVersion": m.APIVersion, "kind": m.Kind, "name": m.Name, "uid": m.UID})
		if len(o.owners) > 20 {
			o.owners = o.owners[1:]
		}
	}
	return fmt.Sprintf("%s %s: %d", method, path, code)
}

// meta is random metadata: owners, rightly and wrongly, and finalizers.
func (o *operations) meta() object {
	m := object{}
	if len(o.owners) > 0 && o.rand.IntN(2) == 0 {
		var list []object
		for range 1 + o.rand.IntN(2) {
			owner := object{}
			for k, v := range o.owners[o.rand.IntN(len(o.owners))] {
				owner[k] = v
			}
			owner["blockOwnerDeletion"] = o.rand.IntN(2) == 0
			if o.rand.IntN(10) == 0 {
				owner["uid"] = "missing"
			}
			list = append(list, owner)
		}
		m["ownerReferences"] = list
	}
	if o.rand.IntN(8) == 0 {
		m["finalizers"] = []string{"example.com/hold"}
	}
	return m
}

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// next sends one request.
func (o *operations) next() string {
	in := "/namespaces/" + o.namespace()
	switch o.rand.IntN(22) {
	case 0:
		return o.send("POST", "/api/v1/namespaces", named(o.namespace(), nil))
	case 1:
		if o.rand.IntN(3) == 0 {
			return o.send("DELETE", "/api/v1/namespaces/"+o.pick("a", "b", "c", "kube-node-lease"), nil)
		}
		return o.send("POST", "/api/v1"+in+"/resourcequotas", o.quota())
	case 2, 3, 4:
		return o.send("POST", "/api/v1"+in+"/"+o.pick("configmaps", "secrets"), named(o.name(), o.meta()))
	case 5, 6:
		return o.send("POST", "/apis/apps/v1"+in+"/"+o.pick("deployments", "replicasets"), newSet(o.name(), o.rand.IntN(3)))
	case 7:
		set := newSet(o.name(), o.rand.IntN(3))
		set["spec"].(object)["serviceName"] = "s"
		return o.send("POST", "/apis/apps/v1"+in+"/statefulsets", set)
	case 8:
		return o.send("PATCH", "/apis/apps/v1"+in+"/"+o.pick("deployments", "statefulsets", "replicasets")+"/"+o.name(),
			object{"spec": object{"replicas": o.rand.IntN(4)}})
	case 9:
		return o.send("PATCH", "/apis/apps/v1"+in+"/deployments/"+o.name(), object{"spec": object{"template": object{
			"metadata": object{"annotations": object{"n": strconv.Itoa(o.rand.IntN(9))}}}}})
	case 10, 11:
		job := newJob(o.name())
		if o.rand.IntN(2) == 0 {
			job["spec"].(object)["ttlSecondsAfterFinished"] = 100000
		}
		return o.send("POST", "/apis/batch/v1"+in+"/jobs", job)
	case 12:
		spec := object{"schedule": "0 0 29 2 *", "jobTemplate": newJob("")}
		return o.send("POST", "/apis/batch/v1"+in+"/cronjobs", specified(o.name(), spec))
	case 13:
		return o.definition()
	case 14:
		c := named(o.name(), o.meta())
		c["apiVersion"], c["kind"] = "example.com/v1", "Thing"
		return o.send("POST", "/apis/example.com/v1"+in+"/things", c)
	case 15:
		spec := object{"selector": object{"app": o.name()}, "ports": []object{{"port": 80}}}
		return o.send("POST", "/api/v1"+in+"/services", specified(o.name(), spec))
	case 16:
		spec := object{"minAvailable": 1, "selector": object{"matchLabels": object{"app": o.name()}}}
		return o.send("POST", "/apis/policy/v1"+in+"/poddisruptionbudgets", specified(o.name(), spec))
	case 17:
		return o.send("PATCH", "/api/v1"+in+"/"+o.pick("configmaps", "secrets")+"/"+o.name(),
			object{"metadata": object{"finalizers": nil}})
	case 18:
		return o.send("DELETE", "/api/v1"+in+"/pods", nil)
	}
	return o.send("DELETE", o.pick("/api/v1"+in+"/configmaps/", "/api/v1"+in+"/secrets/", "/api/v1"+in+"/services/",
		"/api/v1"+in+"/resourcequotas/", "/apis/apps/v1"+in+"/deployments/", "/apis/apps/v1"+in+"/replicasets/",
		"/apis/apps/v1"+in+"/statefulsets/", "/apis/batch/v1"+in+"/jobs/", "/apis/batch/v1"+in+"/cronjobs/",
		"/apis/example.com/v1"+in+"/things/")+o.name(),
		object{"propagationPolicy": o.pick("Background", "Foreground", "Orphan")})
}

func (o *operations) quota() object {
	return specified(o.name(), object{"hard": object{"pods": "6", "count/configmaps": "9"}})
}

// definition creates or deletes a CRD.
func (o *operations) definition() string {
	if o.rand.IntN(3) == 0 {
		return o.send("DELETE", crds+"/things.example.com", nil)
	}
	return o.send("POST", crds, newDefinition("things", "Thing", "Namespaced"))
}

// TestSettledIsTrue: after random operations with settled after each, nothing changes any more without a request.
// OPERATIONS is their number.
func TestSettledIsTrue(t *testing.T) {
	count := 200
	if n, err := strconv.Atoi(os.Getenv("OPERATIONS")); err == nil {
		count = n
	}
	s := startSettling(t)
	first := seed.Of(t)
	o := &operations{settling: s, rand: rand.New(rand.NewPCG(first, 0))}
	s.do("POST", "/api/v1/namespaces", named(sentinels, nil))
	waits, watched, calm := map[string]int{}, 0, 0
	for i := range count {
		did := o.next()
		answer := s.settled()
		if t.Failed() {
			t.Fatalf("operation %d: %s", i, did)
		}
		for _, w := range answer.Waits {
			waits[w.Controller+": "+w.Reason]++
		}
		if (i+1)%100 == 0 || i == count-1 {
			watched++
			if s.watch(i) {
				calm++
			}
		}
	}
	t.Logf("%d of %d times no controller had anything to do for a second", calm, watched)
	if 2*calm < watched {
		t.Error("too often a controller had something to do")
	}
	for why, n := range waits {
		t.Logf("%d times %s", n, why)
	}
	for _, why := range []string{
		"ttl-after-finished-controller: spec.ttlSecondsAfterFinished", "cronjob-controller: spec.schedule",
	} {
		if waits[why] == 0 {
			t.Errorf("never waited for %s", why)
		}
	}
}

// TestSettledChecks: what is checked at intervals is settled, with the time of the check.
func TestSettledChecks(t *testing.T) {
	s := startSettling(t)
	if answer := s.settled(); len(answer.Waits) > 0 {
		t.Errorf("a new server waits for %+v", answer.Waits)
	}
	s.do("DELETE", "/api/v1/namespaces/default/services/kubernetes", nil)
	s.do("DELETE", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/probes", nil)
	answer := s.settled()
	if len(answer.Waits) != 2 || answer.Waits[0].Object.Name != "kubernetes" ||
		answer.Waits[1].Controller != "priority-and-fairness-controller" {
		t.Errorf("waits for %+v", answer.Waits)
	}
}

// stuck is a part that is never idle.
type stuck struct{ reconcile.Object }

func (s stuck) Idle(ctx context.Context, _ int64) (uint64, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func (s stuck) Report(context.Context, int) (reconcile.Report, error) {
	return reconcile.Report{Works: []reconcile.Work{{Object: s.Object, What: "a pass"}}}, nil
}

// TestSettledTimeout: what is going on is in the response, with the objects, and in the error of Settle. A request that
// waits has no seat: as many as there are seats don't keep another one waiting.
func TestSettledTimeout(t *testing.T) {
	s := startSettling(t, func(c *Config) { c.API.MaxInFlight = 10 })
	s.settled()
	ctx := reconcile.Named(s.controllers.Monitor.With(t.Context()), "stuck-controller")
	end := reconcile.Join(ctx, stuck{reconcile.Object{Version: "v1", Resource: "pods", Kind: "Pod", Namespace: "a", Name: "b"}})
	code, data := s.do("GET", "/kubecascade/v1/settled?timeout=300ms", nil)
	var st metav1.Status
	if err := json.Unmarshal(data, &st); err != nil || code != http.StatusGatewayTimeout ||
		st.Reason != metav1.StatusReasonTimeout || st.Details == nil {
		t.Fatalf("%d %s %v", code, data, err)
	}
	want := metav1.StatusCause{Type: causeWorking, Message: "a pass: Pod a/b", Field: "stuck-controller"}
	if !slices.Contains(st.Details.Causes, want) {
		t.Errorf("%+v", st.Details.Causes)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Settle(short, 0); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "; stuck-controller: a pass: Pod a/b") {
		t.Errorf("Settle: %v", err)
	}
	var waiting sync.WaitGroup
	rejected := make(chan int, mostSettling+1)
	for range mostSettling + 1 { // none ends before end, so that one is too many
		waiting.Go(func() {
			if code, _ := s.do("GET", "/kubecascade/v1/settled?timeout=60s", nil); code != http.StatusOK {
				rejected <- code
			}
		})
	}
	if code := <-rejected; code != http.StatusTooManyRequests {
		t.Errorf("too many requests: %d", code)
	}
	s.expect(http.StatusCreated, "POST", "/api/v1/namespaces", named("other", nil))
	end()
	waiting.Wait()
	if n := len(rejected); n > 0 {
		t.Errorf("%d further requests were rejected", n)
	}
	for _, query := range []string{"timeout=soon", "timeout=-1s", "timeout=11m", "resourceVersion=x"} {
		s.expect(http.StatusBadRequest, "GET", "/kubecascade/v1/settled?"+query, nil)
	}
	s.expect(http.StatusGatewayTimeout, "GET", "/kubecascade/v1/settled?timeout=0s&resourceVersion=99999999", nil,
		"the requested revision is not reached")
}

// elect has the controllers wait for their lease.
func elect(c *Config) {
	o := &c.Controllers
	o.LeaderElect, o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = new(true), 15*time.Second, 10*time.Second, 2*time.Second
}

// TestSettledElection: the lease of the controllers is renewed, and without it nothing is settled.
func TestSettledElection(t *testing.T) {
	s := startSettling(t, elect)
	code, data := s.do("GET", "/kubecascade/v1/settled?timeout=60s", nil)
	var answer settledAnswer
	if err := json.Unmarshal(data, &answer); err != nil || code != http.StatusOK {
		t.Fatalf("%d %s %v", code, data, err)
	}
	if len(answer.Waits) != 1 || answer.Waits[0].Object == nil || answer.Waits[0].Object.Kind != "Lease" {
		t.Errorf("waits for %+v", answer.Waits)
	}
	lease := object{"spec": object{"holderIdentity": "another", "leaseDurationSeconds": 100,
		"renewTime": metav1.NowMicro(), "leaseTransitions": 1}}
	s.do("PATCH", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager", lease)
	for s.controllers.Leading() { // until the next renewal
		if code, _ = s.do("GET", "/kubecascade/v1/settled?timeout=1s", nil); code != http.StatusOK {
			break
		}
	}
	s.expect(http.StatusGatewayTimeout, "GET", "/kubecascade/v1/settled?timeout=1s", nil,
		"the server that holds the lease")
}
