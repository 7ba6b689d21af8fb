package conformance

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// T is a running case. Only the case's goroutine uses it. A failed check ends the case.
type T struct {
	// ctx ends with the case's timeout, or with the run.
	ctx     context.Context
	started time.Time
	client  *Client
	// prefix is the prefix of names of cluster-scoped objects, and the name of the case's namespace.
	prefix string
	// idle reports whether the probe found no working collector. Then the case need not avoid races with it.
	idle bool
	// sent are the writes, as curl commands; made are the objects to clean up, in order of creation.
	sent []string
	made []*Object
	// sentinels is the number of sentinels that the case has created.
	sentinels int
}

// Failure is why a case failed.
type Failure struct {
	// Expected and Seen are sentences; Object is YAML; Request is the curl command.
	Expected string `json:"expected"`
	Seen     string `json:"seen"`
	Object   string `json:"object,omitempty"`
	Request  string `json:"request,omitempty"`
	// Sent are the writes of the case, oldest first.
	Sent []string `json:"sent,omitempty"`
}

// skipped is the value of a panic that skips a case: the reason.
type skipped string

// fail ends the case.
func (t *T) fail(f Failure) { panic(f) }

// timedOut ends the description of a state if the case has waited until its timeout. failureKey detects it.
const timedOut = " after the case began"

// timeoutNote returns the end of that description.
func (t *T) timeoutNote() string {
	return ", still, " + time.Since(t.started).Round(100*time.Millisecond).String() + timedOut
}

// send sends a write and records it.
func (t *T) send(method, path, contentType string, body any) *Answer {
	a, err := t.client.do(t.ctx, method, path, contentType, body)
	if err != nil {
		t.fail(Failure{Expected: "a response to " + method + " " + path, Seen: err.Error()})
	}
	if method != http.MethodGet {
		t.sent = append(t.sent, a.Curl)
	}
	t.skipUnsupported(a, method, path)
	return a
}

// Send sends any request with a JSON body, or none.
func (t *T) Send(method, path string, body any) *Answer {
	contentType := ""
	if body != nil {
		contentType = "application/json"
	}
	return t.send(method, path, contentType, body)
}

// Accepted checks that a request succeeded with one of these codes.
func (t *T) Accepted(a *Answer, codes ...int) *Answer {
	t.Check(slices.Contains(codes, a.Code), fmt.Sprintf("the response %d", codes),
		fmt.Sprintf("%d: %s", a.Code, a.Message()), a)
	return a
}

// Rejected checks that a request was rejected with the code and a message that contains the fragment.
func (t *T) Rejected(a *Answer, code int, fragment string) {
	t.Check(a.Code == code && strings.Contains(a.Message(), fragment),
		fmt.Sprintf("the response %d with a message that contains %q", code, fragment),
		fmt.Sprintf("%d: %s", a.Code, a.Message()), a)
}

// Check fails the case unless ok is true.
func (t *T) Check(ok bool, expected, seen string, a *Answer) {
	if !ok {
		f := Failure{Expected: expected, Seen: seen}
		if a != nil {
			f.Request = a.Curl
		}
		t.fail(f)
	}
}

// Make creates an object in the case's namespace, or in that of an option. The names of cluster-scoped objects get the
// case's prefix.
func (t *T) Make(k Kind, name string, options ...Option) *Object {
	if k.ClusterScoped {
		name = t.prefix + "-" + name
	}
	return t.create(newObject(k, t.prefix, name, options...))
}

// Namespace creates another namespace for the case.
func (t *T) Namespace(name string, options ...Option) *Object {
	return t.Make(Namespace, name, options...)
}

// In creates a new object in another namespace.
func In(namespace *Object) Option {
	return func(o *Object) { o.SetNamespace(namespace.GetName()) }
}

// TryMake creates an object in the case's namespace, or in that of an option. It accepts any response.
func (t *T) TryMake(k Kind, name string, options ...Option) (*Object, *Answer) {
	return t.tryCreate(newObject(k, t.prefix, name, options...))
}

// create creates the object unchanged.
func (t *T) create(o *Object) *Object {
	now, a := t.tryCreate(o)
	if a.Code == http.StatusForbidden && o.Of.ClusterScoped {
		panic(skipped("no right to create " + o.Of.Plural + ": " + a.Message()))
	}
	t.Accepted(a, http.StatusCreated)
	return now
}

// tryCreate creates the object and accepts any response. It records the object for the cleanup unless the response is a
// client error.
func (t *T) tryCreate(o *Object) (*Object, *Answer) {
	t.made = append(t.made, o)
	a := t.Send(http.MethodPost, o.Of.Path(o.GetNamespace(), ""), o.Object)
	if a.Code >= 400 && a.Code < 500 {
		t.made = t.made[:len(t.made)-1]
	}
	return decode(o.Of, a), a
}

func decode(k Kind, a *Answer) *Object {
	o := &Object{Of: k}
	o.Object = a.Body
	return o
}

// DeleteOption sets a field of DeleteOptions.
type DeleteOption func(options map[string]any)

func policy(name string) DeleteOption {
	return func(o map[string]any) { o["propagationPolicy"] = name }
}

// The propagation policies.
var (
	Background = policy("Background")
	Foreground = policy("Foreground")
	Orphan     = policy("Orphan")
)

// OrphanDependents returns the deprecated option orphanDependents.
func OrphanDependents(orphan bool) DeleteOption {
	return func(o map[string]any) { o["orphanDependents"] = orphan }
}

// DryRun sets dryRun=All.
func DryRun(o map[string]any) { o["dryRun"] = []string{"All"} }

// If sets a precondition for "uid" or "resourceVersion".
func If(field, value string) DeleteOption {
	return func(o map[string]any) { o["preconditions"] = map[string]any{field: value} }
}

func deleteOptions(options []DeleteOption) any {
	if len(options) == 0 {
		return nil
	}
	body := map[string]any{"kind": "DeleteOptions", "apiVersion": "v1"}
	for _, set := range options {
		set(body)
	}
	return body
}

// TryDelete sends a DELETE, with options in its body. Without options it has no body.
func (t *T) TryDelete(o *Object, options ...DeleteOption) *Answer {
	return t.Send(http.MethodDelete, o.Path(), deleteOptions(options))
}

// Delete sends a DELETE that must succeed.
func (t *T) Delete(o *Object, options ...DeleteOption) *Answer {
	a := t.TryDelete(o, options...)
	return t.Accepted(a, http.StatusOK, http.StatusAccepted)
}

// DeleteCollection sends a DELETE to the kind's collection in the case's namespace.
func (t *T) DeleteCollection(k Kind, query string, options ...DeleteOption) *Answer {
	a := t.Send(http.MethodDelete, k.Path(t.prefix, "")+query, deleteOptions(options))
	return t.Accepted(a, http.StatusOK)
}

// TryPatch sends a JSON merge patch.
func (t *T) TryPatch(o *Object, patch any) *Answer {
	return t.send(http.MethodPatch, o.Path(), "application/merge-patch+json", patch)
}

// TryPatchStatus sends a JSON merge patch of an object's status.
func (t *T) TryPatchStatus(o *Object, status any) *Answer {
	return t.send(http.MethodPatch, o.Path()+"/status", "application/merge-patch+json", map[string]any{"status": status})
}

// TryApply applies fields to an object with force, so that it takes over the fields of other managers.
func (t *T) TryApply(o *Object, fields map[string]any) *Answer {
	document := map[string]any{"apiVersion": o.Of.APIVersion(), "kind": o.Of.Name}
	maps.Copy(document, fields)
	return t.send(http.MethodPatch, o.Path()+"?fieldManager=conformance&force=true", "application/apply-patch+yaml", document)
}

// Patch sends a JSON merge patch that must succeed.
func (t *T) Patch(o *Object, patch any) *Object {
	a := t.TryPatch(o, patch)
	return decode(o.Of, t.Accepted(a, http.StatusOK))
}

// SetOwners replaces the references of an object.
func (t *T) SetOwners(o *Object, options ...Option) *Object {
	want := newObject(o.Of, "", "", options...)
	return t.Patch(o, map[string]any{"metadata": map[string]any{"ownerReferences": want.GetOwnerReferences()}})
}

// Release removes the finalizer Hold from an object. The object's other finalizers remain.
func (t *T) Release(o *Object) {
	for {
		now := t.Expect(o, Present)
		rest := slices.DeleteFunc(now.GetFinalizers(), func(f string) bool { return f == Hold })
		a := t.TryPatch(
			o, map[string]any{"metadata": map[string]any{"resourceVersion": now.GetResourceVersion(), "finalizers": rest}},
		)
		if a.Code != http.StatusConflict {
			t.Accepted(a, http.StatusOK)
			return
		}
	}
}
