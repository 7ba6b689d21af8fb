package endpoints_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/faults"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// onlyNew is the query of a watch without initial events.
const onlyNew = "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"

// faulty is a server for which the test plans faults.
type faulty struct {
	*apiservertest.Server
	t   *testing.T
	set *faults.Set
}

func startFaulty(t *testing.T, limits cache.Options) *faulty {
	f := &faulty{t: t, set: faults.New()}
	f.Server = apiservertest.Start(t, &apiservertest.Options{Cache: limits, Configure: func(c *apiserver.Config) {
		c.Faults = f.set
	}})
	return f
}

// add adds a plan with one rule, in YAML.
func (f *faulty) add(rule string) (remove func()) {
	f.t.Helper()
	p, err := faults.Parse([]byte("rules: [" + rule + "]"))
	if err == nil {
		_, remove, err = f.set.Add(p)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return remove
}

// hold is add for open watches. It waits until n of them have met the plan.
func (f *faulty) hold(n int, rule string) (remove func()) {
	f.t.Helper()
	remove = f.add(rule)
	for all := f.set.Report().Rules; all[len(all)-1].Fired < n; all = f.set.Report().Rules {
		must(f.t, f.Do("GET", "/readyz", nil), http.StatusOK)
	}
	return remove
}

// put creates or replaces ConfigMaps, delete deletes one. Both wait for the event.
func (f *faulty) put(version string, names ...string) { f.label(nil, version, names...) }

func (f *faulty) label(labels map[string]string, version string, names ...string) {
	f.t.Helper()
	for _, name := range names {
		body := configmap(name, map[string]string{"version": version}, labels)
		if a := f.Do("PUT", configmaps+"/"+name, body); a.Code == http.StatusNotFound {
			must(f.t, f.Do("POST", configmaps, body), http.StatusCreated)
		}
	}
	must(f.t, f.Do("GET", configmaps, nil), http.StatusOK)
}

func (f *faulty) delete(name string) {
	f.t.Helper()
	must(f.t, f.Do("DELETE", configmaps+"/"+name, nil), http.StatusOK)
	must(f.t, f.Do("GET", configmaps, nil), http.StatusOK)
}

// expect reads the next events, each as "TYPE name version".
func (f *faulty) expect(w *apiservertest.Watch, want ...string) {
	f.t.Helper()
	for _, want := range want {
		e := next(f.t, w)
		version, _ := e.Object.Object["data"].(map[string]any)["version"].(string)
		if got := fmt.Sprint(e.Type, " ", e.Object.GetName(), " ", version); got != want {
			f.t.Fatalf("event %s, want %s", got, want)
		}
	}
}

// ends expects the end of a watch.
func (f *faulty) ends(w *apiservertest.Watch) {
	f.t.Helper()
	if e, err := w.Next(); !errors.Is(err, io.EOF) {
		f.t.Errorf("%v %v, want the end", e, err)
	}
}

// expires expects an ERROR event with the code 410, and the end.
func (f *faulty) expires(w *apiservertest.Watch) {
	f.t.Helper()
	if e := next(f.t, w); e.Type != "ERROR" || fmt.Sprint(e.Object.Object["code"]) != "410" {
		f.t.Errorf("%s %v, want the error 410", e.Type, e.Object)
	}
	f.ends(w)
}

// TestLostAnswers: the connection is closed without a response, before or after the request is executed.
func TestLostAnswers(t *testing.T) {
	f := startFaulty(t, cache.Options{})
	port := httptest.NewUnstartedServer(f.API.Insecure())
	port.EnableHTTP2 = true
	port.StartTLS()
	t.Cleanup(port.Close)
	for i, to := range []struct {
		c   *http.Client
		url string
	}{{f.Client, f.URL}, {port.Client(), port.URL}} {
		closed, lost := fmt.Sprint("closed", i), fmt.Sprint("lost", i)
		f.add("{match: {verbs: [create], name: " + closed + "}, times: 1, effect: {close: true}}")
		f.add("{match: {verbs: [create], name: " + lost + "}, effect: {loseAnswer: true}}")
		for name, code := range map[string]int{closed: http.StatusNotFound, lost: http.StatusOK} {
			a, err := apiservertest.Send(to.c, "POST", to.url+configmaps, configmap(name, nil, nil))
			if err == nil {
				t.Errorf("%s: answer %d %s", name, a.Code, a.Body)
			}
			must(t, f.Do("GET", configmaps+"/"+name, nil), code)
		}
		must(t, f.Do("POST", configmaps, configmap(closed, nil, nil)), http.StatusCreated)
	}
	if n := metric(t, f.Server, "kubecascade_injected_faults_total"); n != 4 {
		t.Errorf("%v faults are counted", n)
	}
}

// TestHeldEvents: when the plan is added, an open watch is held, but reads are fresh. When the plan is removed, or its
// time is over, the events are sent in order, and none is lost or repeated.
func TestHeldEvents(t *testing.T) {
	f := startFaulty(t, cache.Options{})
	held, free := f.Watch(configmaps+"?watch=1", "User-Agent", "held"), f.Watch(configmaps+"?watch=1")
	f.put("1", "a")
	f.expect(held, "ADDED a 1")
	remove := f.hold(1, "{match: {userAgent: held}, effect: {holdEvents: true}}")
	first := make(chan apiservertest.Event, 1)
	go func() {
		e, _ := held.Next()
		first <- e
	}()
	f.put("2", "a", "b")
	f.delete("a")
	f.put("3", "a")
	f.expect(free, "ADDED a 1", "MODIFIED a 2", "ADDED b 2", "DELETED a 2", "ADDED a 3")
	select {
	case e := <-first:
		t.Errorf("held event %v was sent", e)
	default:
	}
	remove()
	if e := <-first; e.Type != "MODIFIED" || e.Object.GetName() != "a" {
		t.Errorf("first event %v", e)
	}
	f.expect(held, "ADDED b 2", "DELETED a 2", "ADDED a 3")
	f.add("{match: {userAgent: held}, effect: {holdEvents: true, duration: 1ms}}")
	f.put("4", "a")
	f.expect(held, "MODIFIED a 4")
}

// TestSkippedEvents: after the hold only the newest state of each object is sent. A new object with the name of a
// deleted one is another object. An object that has left the selection is sent with its last selected state, also if it
// was deleted after that. One that the client has never had is not sent.
func TestSkippedEvents(t *testing.T) {
	f := startFaulty(t, cache.Options{})
	yes, no := map[string]string{"selected": "yes"}, map[string]string{"selected": "no"}
	f.label(yes, "0", "deleted", "left", "replaced", "returned")
	all := f.Watch(configmaps + "?watch=1&resourceVersion=0")
	selected := f.Watch(configmaps + "?watch=1&resourceVersion=0&labelSelector=selected%3Dyes")
	for _, w := range []*apiservertest.Watch{all, selected} {
		f.expect(w, "ADDED deleted 0", "ADDED left 0", "ADDED replaced 0", "ADDED returned 0")
	}
	remove := f.hold(2, "{match: {verbs: [watch]}, effect: {skipEvents: true}}")
	f.label(yes, "1", "left", "deleted", "replaced", "returned", "unseen", "new")
	f.label(no, "2", "left", "deleted", "replaced", "returned", "unseen", "new")
	f.delete("deleted")
	f.delete("replaced")
	f.delete("unseen")
	f.label(yes, "3", "replaced", "returned")
	f.label(yes, "4", "replaced", "new")
	remove()
	f.label(yes, "5", "last")
	f.expect(selected, "DELETED left 1", "DELETED deleted 1", "DELETED replaced 1", "MODIFIED returned 3",
		"ADDED replaced 4", "ADDED new 4", "ADDED last 5")
	f.expect(all, "MODIFIED left 2", "DELETED deleted 2", "DELETED replaced 2", "MODIFIED returned 3",
		"ADDED replaced 4", "ADDED new 4", "ADDED last 5")
}

// TestReplacedSkip: superseded states are not sent if another plan replaces the one that skips events, before or after
// the removal of that plan.
func TestReplacedSkip(t *testing.T) {
	f := startFaulty(t, cache.Options{})
	w := f.Watch(configmaps + "?watch=1&resourceVersion=0")
	for i, effect := range []string{"endWatch: true, duration: 1h", "holdEvents: true, duration: 1ms"} {
		for _, name := range []string{fmt.Sprint("before", i), fmt.Sprint("after", i)} {
			remove := f.hold(1, "{match: {verbs: [watch]}, effect: {skipEvents: true}}")
			f.put("1", name)
			f.put("2", name)
			if name[0] == 'a' {
				remove()
			}
			f.add("{match: {verbs: [watch]}, effect: {" + effect + "}}")
			f.expect(w, "ADDED "+name+" 2")
		}
	}
}

// TestExpiredPage: the error Expired of a page has a token for the rest, as the server's own error has.
func TestExpiredPage(t *testing.T) {
	f := startFaulty(t, cache.Options{})
	f.put("1", "a", "b", "c")
	page := configmaps + "?limit=1&continue="
	first := must(t, f.Do("GET", page, nil), http.StatusOK).List()
	remove := f.add("{effect: {error: Expired}}")
	expired := f.Do("GET", page+first.GetContinue(), nil)
	remove()
	var s metav1.Status
	if err := json.Unmarshal(must(t, expired, http.StatusGone).Body, &s); err != nil {
		t.Fatal(err)
	}
	items := must(t, f.Do("GET", page+s.Continue, nil), http.StatusOK).List().Items
	if s.Reason != metav1.StatusReasonExpired || len(items) != 1 || items[0].GetName() != "b" {
		t.Errorf("%+v, and then %v", s, items)
	}
}

// TestFaultsBeyondHistory: a held watch expires if its history is dropped, and a stale read has the oldest state
// in the cache. A held watch ends with the server.
func TestFaultsBeyondHistory(t *testing.T) {
	f := startFaulty(t, cache.Options{Events: 64})
	remove := f.add("{effect: {holdEvents: true}}")
	old := f.Watch(configmaps + "?watch=1")
	for i := range 200 {
		f.put(fmt.Sprint(i), "a")
	}
	remove()
	f.expires(old)
	remove = f.add("{effect: {staleReads: true, revisions: 1000}}")
	a := must(t, f.Do("GET", configmaps+"?resourceVersion=0", nil), http.StatusOK)
	if items := a.List().Items; len(items) != 1 || items[0].Object["data"].(map[string]any)["version"] == "199" {
		t.Errorf("the state is %v", items)
	}
	remove()
	f.add("{effect: {skipEvents: true}}")
	w := f.Watch(configmaps + "?watch=1&resourceVersion=0")
	f.expect(w, "ADDED a 199")
	f.put("x", "a")
	f.API.CloseWatches()
	f.ends(w)
}

// TestFaultDelaysEnd: a delayed request is executed when its plan is removed, and when the server stops.
func TestFaultDelaysEnd(t *testing.T) {
	f := startFaulty(t, cache.Options{})
	for i := range 2 {
		remove := f.add("{effect: {delay: 1h}}")
		code := make(chan int)
		go func() { code <- f.Do("GET", configmaps+"/a", nil).Code }()
		more := func(n float64) bool { return n > float64(i) }
		await(t, f.Server, "kubecascade_injected_faults_total", "another", more)
		if i == 1 {
			remove = f.API.CloseWatches
		}
		remove()
		if got := <-code; got != http.StatusNotFound {
			t.Errorf("code %d", got)
		}
	}
}

// TestEndedWatches: a watch ends or expires at once, after events, or after a time.
func TestEndedWatches(t *testing.T) {
	f := startFaulty(t, cache.Options{})
	open := f.Watch(configmaps + "?watch=1")
	f.add("{times: 1, effect: {expireWatch: true}}")
	f.expires(open)
	f.add("{times: 1, effect: {endWatch: true, events: 2}}")
	w := f.Watch(configmaps + "?watch=1")
	f.put("1", "a", "b", "c")
	f.expect(w, "ADDED a 1", "ADDED b 1")
	f.ends(w)
	f.add("{times: 1, effect: {expireWatch: true, events: 1}}")
	w = f.Watch(configmaps + "?watch=1&resourceVersion=0")
	f.put("2", "a")
	f.expect(w, "ADDED a 1", "ADDED b 1", "ADDED c 1", "MODIFIED a 2")
	f.expires(w)
	remove := f.add("{times: 1, effect: {endWatch: true, events: 1}}")
	w = f.Watch(configmaps + onlyNew)
	remove()
	f.put("3", "a", "b")
	f.expect(w, "MODIFIED a 3", "MODIFIED b 3")
	f.add("{effect: {endWatch: true, duration: 1ms}}")
	f.ends(w)
}

// TestControllersMeetTheirFaults: only rules for controllers apply to requests of this process.
func TestControllersMeetTheirFaults(t *testing.T) {
	f := startFaulty(t, cache.Options{})
	f.put("1", "a")
	api := f.API.Loopback(authorization.ServiceAccount("kube-system", "x"), "x")
	p := registry.Path{Resource: f.Types.Lookup("", "v1", "configmaps"), Namespace: "default", Name: "a"}
	f.add("{effect: {error: InternalError}}")
	if _, err := api.Get(context.Background(), p); err != nil {
		t.Error(err)
	}
	f.add("{match: {controllers: true, user: '*:x'}, times: 1, effect: {error: TooManyRequests}}")
	if _, err := api.Get(context.Background(), p); !apierrors.IsTooManyRequests(err) {
		t.Errorf("error %v", err)
	}
	f.add("{match: {controllers: true}, times: 1, effect: {loseAnswer: true}}")
	if _, err := api.Get(context.Background(), p); err == nil {
		t.Error("the answer is not lost")
	}
	f.add("{match: {controllers: true, name: new}, effect: {error: AlreadyExists}}")
	p.Name = ""
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new", Namespace: "default"}}
	if _, err := api.Create(context.Background(), p, obj); !apierrors.IsAlreadyExists(err) {
		t.Errorf("error %v", err)
	}
}
