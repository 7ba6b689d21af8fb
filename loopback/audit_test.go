package loopback_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit/policy"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/registry"
)

// auditLog is an audit log in memory.
type auditLog struct {
	mu     sync.Mutex
	events []auditv1.Event
	// more is closed at the next event.
	more chan struct{}
	// full is the error of writes; nil if there is space.
	full error
}

func (l *auditLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full != nil {
		return 0, l.full
	}
	var e auditv1.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, err
	}
	l.events = append(l.events, e)
	close(l.more)
	l.more = make(chan struct{})
	return len(line), nil
}

func (l *auditLog) fill(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.full = err
}

// by waits for n events of a user.
func (l *auditLog) by(t *testing.T, user string, n int) (found []auditv1.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		l.mu.Lock()
		all, more := slices.Clone(l.events), l.more
		l.mu.Unlock()
		found = slices.DeleteFunc(all, func(e auditv1.Event) bool { return e.User.Username != user })
		if len(found) >= n {
			return found
		}
		select {
		case <-more:
		case <-ctx.Done():
			t.Fatalf("%s has %d events, not %d: %v", user, len(found), n, found)
		}
	}
}

// audited starts a server with an audit log by the rules of a policy in YAML.
func audited(t *testing.T, rules, mode string) (*apiservertest.Server, *auditLog) {
	t.Helper()
	p, err := policy.LoadPolicyFromBytes([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rules))
	if err != nil {
		t.Fatal(err)
	}
	o, out := audit.Defaults(), &auditLog{more: make(chan struct{})}
	o.Mode = mode
	l, err := o.Log(p, out)
	if err != nil {
		t.Fatal(err)
	}
	return apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) { c.Audit = l }}), out
}

const collectorName = "system:serviceaccount:kube-system:generic-garbage-collector"

// TestAuditOfCascade: the log has the collector's DELETE of a dependent, as in a cluster; the collector's reads of the
// cache are no requests (N-14, N-20 to N-24).
func TestAuditOfCascade(t *testing.T) {
	s, log := audited(t, "rules: [{level: Metadata}]\n", audit.ModeBlocking)
	collect(t, s)
	owner := create(t, s, configMaps, "owner", nil, nil)
	owned := map[string]any{"ownerReferences": []any{reference(owner, nil)}}
	dependent := create(t, s, configMaps, "dependent", owned, nil)
	w := s.Watch(configMaps + "?watch=1")
	do(t, s, "DELETE", configMaps+"/owner", "")
	gone(t, w, "dependent")
	events := log.by(t, collectorName, 2)
	id, agent := events[0].AuditID, regexp.MustCompile(`^kubecascade/v1\.\d+\.\d+\+test \(\w+/\w+\)/`+collectorName+"$")
	for i := range events {
		e := &events[i]
		if !agent.MatchString(e.UserAgent) || id == "" || e.AuditID != id || e.RequestReceivedTimestamp.IsZero() ||
			e.StageTimestamp.IsZero() {
			t.Errorf("%+v", e)
		}
		e.AuditID, e.UserAgent, e.RequestReceivedTimestamp, e.StageTimestamp = "", "", metav1.MicroTime{}, metav1.MicroTime{}
	}
	want := auditv1.Event{
		TypeMeta: metav1.TypeMeta{Kind: "Event", APIVersion: "audit.k8s.io/v1"}, Level: auditv1.LevelMetadata,
		Stage: auditv1.StageRequestReceived, RequestURI: configMaps + "/dependent", Verb: "delete",
		SourceIPs: []string{"::1"},
		ObjectRef: &auditv1.ObjectReference{
			Resource: "configmaps", Namespace: "default", Name: "dependent", APIVersion: "v1",
		},
	}
	want.User.Username = collectorName
	want.User.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"}
	end := want
	end.Stage = auditv1.StageResponseComplete
	end.ResponseStatus = &metav1.Status{Status: metav1.StatusSuccess, Code: 200, Details: &metav1.StatusDetails{
		Name: "dependent", Kind: "configmaps", UID: dependent.GetUID(),
	}}
	if diff := cmp.Diff([]auditv1.Event{want, end}, events); diff != "" {
		t.Error(diff)
	}
}

// recorded returns an event in one line, with its objects.
func recorded(e auditv1.Event) string {
	shown := func(o *runtime.Unknown) string {
		if o == nil {
			return "-"
		}
		var v struct {
			Kind     string
			Metadata struct{ Name, ResourceVersion string }
			Data     map[string]string
			Code     int
		}
		if err := json.Unmarshal(o.Raw, &v); err != nil {
			return err.Error()
		}
		rv := ""
		if v.Metadata.ResourceVersion != "" {
			rv = "@"
		}
		return fmt.Sprint(v.Kind, " ", v.Metadata.Name, rv, " ", v.Data["a"], v.Code)
	}
	r := e.ObjectRef
	return fmt.Sprintf("%s %s %s %s/%s %d %s | %s | %s", e.Stage, e.Verb, e.RequestURI, r.Namespace, r.Name,
		e.ResponseStatus.Code, e.ResponseStatus.Reason, shown(e.RequestObject), shown(e.ResponseObject))
}

// TestAuditOfControllers: each request of a controller has one event with what it sent and the answer it got.
func TestAuditOfControllers(t *testing.T) {
	s, log := audited(t, "omitStages: [RequestReceived]\nrules: [{level: RequestResponse}]\n", audit.ModeBlocking)
	const me = "system:serviceaccount:kube-system:me"
	l := s.API.Loopback(authorization.ServiceAccount("kube-system", "me"), "me")
	ctx, maps, pods := t.Context(), s.Types.Lookup("", "v1", "configmaps"), s.Types.Lookup("", "v1", "pods")
	all := registry.Path{Resource: maps, Namespace: "default"}
	one := registry.Path{Resource: maps, Namespace: "default", Name: "a"}
	body := func(name, value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"a": value},
		}
	}
	n := 0
	step := func(err error, want string) {
		t.Helper()
		n++
		e := log.by(t, me, n)
		if got := recorded(e[n-1]); got != "ResponseComplete "+want || len(e) != n {
			t.Errorf("%v\ngot  %s\nwant ResponseComplete %s", err, got, want)
		}
	}
	_, err := l.Create(ctx, all, body("a", "1"))
	step(err, "create "+configMaps+" default/a 201  | ConfigMap a 10 | ConfigMap a@ 10")
	_, err = l.Create(ctx, all, body("a", "1"))
	step(err, "create "+configMaps+" default/a 409 AlreadyExists | ConfigMap a 10 | Status  409")
	_, err = l.Get(ctx, one)
	step(err, "get "+configMaps+"/a default/a 200  | - | ConfigMap a@ 10")
	_, err = l.Update(ctx, one, body("a", "2"))
	step(err, "update "+configMaps+"/a default/a 200  | ConfigMap a 20 | ConfigMap a@ 20")
	_, err = l.Change(ctx, one, func(old runtime.Object) (runtime.Object, error) {
		old.(*corev1.ConfigMap).Data["a"] = "3"
		return old, nil
	})
	step(err, "update "+configMaps+"/a default/a 200  | ConfigMap a@ 30 | ConfigMap a@ 30")
	_, err = l.Link(ctx, one, func(m metav1.Object) error {
		m.SetFinalizers([]string{"example.com/x"})
		return nil
	})
	step(err, "update "+configMaps+"/a default/a 200  | ConfigMap a@ 30 | ConfigMap a@ 30")
	_, err = l.Delete(ctx, one, &metav1.DeleteOptions{})
	step(err, "delete "+configMaps+"/a default/a 200  | DeleteOptions  0 | ConfigMap a@ 30")
	_, err = l.Link(ctx, one, func(m metav1.Object) error { // removes the object
		m.SetFinalizers(nil)
		return nil
	})
	step(err, "update "+configMaps+"/a default/a 200  | ConfigMap a@ 30 | ConfigMap a@ 30")
	_, err = l.Delete(ctx, one, &metav1.DeleteOptions{})
	step(err, "delete "+configMaps+"/a default/a 404 NotFound | DeleteOptions  0 | Status  404")
	_, err = l.Patch(ctx, one, types.MergePatchType, []byte(`{"data":{"a":"4"}}`))
	step(err, "patch "+configMaps+"/a default/a 404 NotFound |   40 | Status  404")
	do(t, s, "POST", configMaps, `{"metadata":{"name":"a"}}`)
	_, err = l.Apply(ctx, one, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"5"}}`))
	step(err, "patch "+configMaps+"/a default/a 200  | ConfigMap a 50 | ConfigMap a@ 50")
	if _, err = l.List(ctx, all); err != nil { // no request
		t.Fatal(err)
	}
	err = l.DeleteCollection(ctx, all, &metav1.DeleteOptions{})
	step(err, "deletecollection "+configMaps+" default/ 200  | DeleteOptions  0 | Status  200")

	const podsPath = "/api/v1/namespaces/default/pods"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "p-", Namespace: "default"}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	p := registry.Path{Resource: pods, Namespace: "default"}
	made, err := l.Create(ctx, p, pod)
	if err != nil {
		t.Fatal(err)
	}
	p.Name, p.Subresource = made.Meta.Name, "eviction"
	step(err, "create "+podsPath+" default/ 201  | Pod  0 | Pod "+p.Name+"@ 0")
	if got := log.by(t, me, n)[n-1].Annotations["pod-security.kubernetes.io/enforce-policy"]; got != "privileged:latest" {
		t.Errorf("annotations of admission: %q", got)
	}
	_, err = l.Post(ctx, p, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: "default"}})
	step(err, "create "+podsPath+"/"+p.Name+"/eviction default/"+p.Name+" 201  | Eviction "+p.Name+" 0 | Status  201")
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	whole := registry.Path{Resource: s.Types.Lookup("", "v1", "namespaces"), Name: "n"}
	_, err = l.Delete(ctx, whole, &metav1.DeleteOptions{})
	step(err, "delete /api/v1/namespaces/n n/n 200  | DeleteOptions  0 | Namespace n@ 0")

	one.Name = "owned"
	do(t, s, "POST", configMaps,
		`{"metadata":{"name":"owned","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"o","uid":"u"}]}}`)
	_, err = l.Link(ctx, one, func(m metav1.Object) error {
		m.SetOwnerReferences(nil)
		return nil
	})
	step(err, "update "+configMaps+"/owned default/owned 200  | ConfigMap owned@ 0 | ConfigMap owned@ 0")
}

// TestAuditOfPanic: a request that panics ends with the stage Panic (N-14).
func TestAuditOfPanic(t *testing.T) {
	s, log := audited(t, "rules: [{level: Request, users: [\"system:serviceaccount:a:b\"]}]\n", audit.ModeBlocking)
	do(t, s, "POST", configMaps, `{"metadata":{"name":"a"}}`)
	one := registry.Path{Resource: s.Types.Lookup("", "v1", "configmaps"), Namespace: "default", Name: "a"}
	for _, account := range []string{"other", "b"} { // only the last one has a rule
		l := s.API.Loopback(authorization.ServiceAccount("a", account), "b")
		if _, err := l.Change(t.Context(), one, func(runtime.Object) (runtime.Object, error) { panic("oh") }); err == nil {
			t.Error("the panic is no error")
		}
	}
	e := log.by(t, "system:serviceaccount:a:b", 2)
	if e[1].Stage != auditv1.StagePanic || e[1].ResponseStatus.Code != 500 ||
		e[1].ResponseStatus.Message != "APIServer panic'd: oh" {
		t.Errorf("%+v", e[1])
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if len(log.events) != 2 {
		t.Errorf("%d events", len(log.events))
	}
}

// TestAuditOfFullDisk: in the mode blocking-strict a controller's request that can't be recorded does nothing (N-17).
func TestAuditOfFullDisk(t *testing.T) {
	for mode, kept := range map[string]bool{audit.ModeBlocking: false, audit.ModeBlockingStrict: true} {
		s, log := audited(t, "rules: [{level: Metadata}]\n", mode)
		do(t, s, "POST", configMaps, `{"metadata":{"name":"a"}}`)
		log.fill(errors.New("no space left on device"))
		one := registry.Path{Resource: s.Types.Lookup("", "v1", "configmaps"), Namespace: "default", Name: "a"}
		_, err := collectorOf(s).API.Delete(t.Context(), one, &metav1.DeleteOptions{})
		if apierrors.IsInternalError(err) != kept ||
			kept && err.Error() != "Internal error occurred: failed to store audit event" {
			t.Errorf("%s: %v", mode, err)
		}
		log.fill(nil)
		if code := s.Do("GET", configMaps+"/a", nil).Code; (code == 200) != kept {
			t.Errorf("%s: %d", mode, code)
		}
	}
}
