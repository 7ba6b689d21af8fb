package namespace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestPassDeletesContentOfNamespace runs testdata/passes against a server in memory. The commands are
//
//	namespace NAME [finalizers=] [spec-finalizers=]
//	add TYPE/NAME [finalizers=] [grace=S]     an object in the namespace; grace makes a pod run
//	release TYPE/NAME                         its finalizers and its grace period are over
//	delete                                    DELETE of the namespace
//	sleep T
//	active                                    a client sets the phase to Active
//	fail REQUEST|resources with=conflict|notfound|unsupported|error [times=N]
//	overtake REQUEST [by=update|replace|remove]      another client is faster once
//	pass                                      one pass: its outcome and its requests
//	show                                      the namespace
func TestPassDeletesContentOfNamespace(t *testing.T) {
	datadriven.Walk(t, "testdata/passes", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			s := &passScenario{server: newServer(), fails: map[string]*failure{}, start: time.Now()}
			s.server.fail = s.fail
			datadriven.RunTest(t, path, s.run)
		})
	})
}

type passScenario struct {
	server *server
	name   string
	start  time.Time
	fails  map[string]*failure
}

type failure struct {
	err   error
	times int
	do    func()
}

func (s *passScenario) fail(request string) error {
	f := s.fails[request]
	if f == nil || f.times == 0 {
		return nil
	}
	f.times--
	if f.do != nil {
		f.do()
	}
	return f.err
}

func (s *passScenario) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "namespace":
		s.name = d.CmdArgs[0].Key
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name, Finalizers: values(d, "finalizers")}}
		for _, f := range values(d, "spec-finalizers") {
			ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerName(f))
		}
		if _, err := s.server.Create(t.Context(), ns); err != nil {
			d.Fatalf(t, "%v", err)
		}
	case "add":
		r, name := s.object(t, d)
		var grace *int64
		if d.HasArg("grace") {
			grace = new(int64(seconds(t, d, "grace") / time.Second))
		}
		s.server.add(r, s.name, name, grace, values(d, "finalizers")...)
	case "release":
		r, name := s.object(t, d)
		s.server.release(r, s.name, name)
	case "delete":
		s.server.deleteNamespace(s.name)
	case "sleep":
		time.Sleep(duration(t, d, d.CmdArgs[0].Key))
	case "active":
		s.change(func(ns *corev1.Namespace) { ns.Status.Phase = corev1.NamespaceActive })
	case "fail":
		times := -1
		d.MaybeScanArgs(t, "times", &times)
		s.fails[request(d)] = &failure{err: failures[values(d, "with")[0]], times: times}
	case "overtake":
		s.fails[request(d)] = &failure{times: 1, do: s.overtake(t, d)}
	case "pass":
		return s.pass(t)
	case "show":
		return s.show()
	default:
		d.Fatalf(t, "unknown command")
	}
	return ""
}

// failures are what requests can fail with.
var failures = map[string]error{
	"conflict":    apierrors.NewConflict(corev1.Resource("namespaces"), "ns", errors.New("stale")),
	"notfound":    apierrors.NewNotFound(corev1.Resource("things"), "x"),
	"unsupported": apierrors.NewMethodNotSupported(corev1.Resource("things"), "deletecollection"),
	"error":       errors.New("out of order"),
}

func values(d *datadriven.TestData, key string) []string {
	a, _ := d.Arg(key)
	return a.Vals
}

// request is what stands in the lines: `deletecollection configmaps in ns`.
func request(d *datadriven.TestData) string { return strings.TrimSpace(d.Input) }

func (s *passScenario) object(t *testing.T, d *datadriven.TestData) (Resource, string) {
	plural, name, _ := strings.Cut(d.CmdArgs[0].Key, "/")
	for _, r := range []Resource{widgetType, serviceType, podType, configMapType} {
		if r.Resource == plural {
			return r, name
		}
	}
	d.Fatalf(t, "unknown type")
	return Resource{}, ""
}

func (s *passScenario) change(fn func(*corev1.Namespace)) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	ns, _ := s.server.get(s.name)
	fn(ns)
	s.server.put(ns)
}

// overtake returns the action of a faster client; it is called with the server's lock held.
func (s *passScenario) overtake(t *testing.T, d *datadriven.TestData) func() {
	by := "update"
	d.MaybeScanArgs(t, "by", &by)
	return func() {
		ns, _ := s.server.get(s.name)
		switch by {
		case "remove":
			s.server.removeNamespace(s.name)
			return
		case "replace":
			ns.UID, ns.DeletionTimestamp = "another", nil
		default:
			ns.Labels = map[string]string{"by": "another"}
		}
		s.server.put(ns)
	}
}

func (s *passScenario) pass(t *testing.T) string {
	s.server.requests = nil
	p := pass{api: s.server, log: slog.New(slog.DiscardHandler)}
	o := p.run(context.Background(), s.name)
	var b strings.Builder
	for _, r := range s.server.requests {
		fmt.Fprintln(&b, r)
	}
	switch {
	case o.done:
		b.WriteString("-> done\n")
	case o.err != nil:
		fmt.Fprintf(&b, "-> %d left, again after at least %v, error: %v\n", o.left, o.after,
			strings.ReplaceAll(o.err.Error(), "\n", "; "))
	default:
		fmt.Fprintf(&b, "-> %d left, again after %v\n", o.left, o.after)
	}
	return b.String()
}

func (s *passScenario) show() string {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	ns, err := s.server.get(s.name)
	if err != nil {
		return "gone\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s spec.finalizers=%v finalizers=%v\n", ns.Status.Phase, ns.Spec.Finalizers, ns.Finalizers)
	for _, c := range ns.Status.Conditions {
		fmt.Fprintf(&b, "%s=%s since %v: %s\n", c.Type, c.Status, c.LastTransitionTime.Sub(s.start), c.Message)
	}
	for _, r := range []schema.GroupVersionResource{podType.GroupVersionResource, configMapType.GroupVersionResource,
		serviceType.GroupVersionResource, widgetType.GroupVersionResource} {
		for _, key := range s.server.keys(Resource{r, true, false}, s.name) {
			o := s.server.objects[key]
			fmt.Fprintf(&b, "%s/%s %v", r.Resource, key.name, o.Finalizers)
			if !o.Deletion.IsZero() {
				fmt.Fprintf(&b, " dying")
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}
