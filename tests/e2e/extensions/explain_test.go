package extensions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/tests/process"
)

const (
	widgets = "/apis/example.com/v1/namespaces/ns/widgets"
	crds    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widget  = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget",
			"listKind":"WidgetList","shortNames":["wd"]},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
			"x-kubernetes-preserve-unknown-fields":true}}}]}}`
)

// explained is apiextensions-apiserver, with the commands that explain deletions. It serves only
// CustomResourceDefinitions and their objects, and has neither namespaces nor a garbage collector.
type explained struct {
	t *testing.T
	*server
	uids map[string]string
}

func startExplained(t *testing.T) *explained {
	s := &explained{t: t, server: startUpstream(t), uids: map[string]string{}}
	s.send("POST", crds, widget)
	s.until("the CRD is established", func() bool { return s.code("GET", widgets) == http.StatusOK })
	return s
}

// object has the compared parts of an object.
type object struct {
	Finalizers  []string
	Terminating bool
}

func (s *explained) code(method, path string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

// metadata has the parts of metadata that are read.
type metadata struct {
	Name, UID, DeletionTimestamp string
	Finalizers                   []string
}

// response is an object or a list.
type response struct {
	Metadata metadata
	Items    []struct{ Metadata metadata }
}

// send sends a request, and returns the response. The request must succeed, but a GET may return 404.
func (s *explained) send(method, path, body string) (out response) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", plain)
	if method == "PATCH" {
		r.Header.Set("Content-Type", patch)
	}
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if method == "GET" && res.StatusCode == http.StatusNotFound {
		return out
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s %v", method, path, res.Status, err)
	}
	return out
}

// create creates a widget with finalizers and an owner, which is a widget or a uid that no object has.
func (s *explained) create(name, owner string, finalizers ...string) {
	s.t.Helper()
	o := map[string]any{"name": name, "finalizers": finalizers}
	if owner != "" {
		uid := s.uids[owner]
		if uid == "" {
			uid = "of-no-object"
		}
		o["ownerReferences"] = []any{map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "name": owner, "uid": uid, "blockOwnerDeletion": true,
		}}
	}
	body, err := json.Marshal(map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": o})
	if err != nil {
		s.t.Fatal(err)
	}
	s.uids[name] = s.send("POST", widgets, string(body)).Metadata.UID
}

// state returns all widgets and CRDs.
func (s *explained) state() map[string]object {
	s.t.Helper()
	all := map[string]object{}
	for _, path := range []string{crds, widgets} {
		for _, o := range s.send("GET", path, "").Items {
			all[o.Metadata.Name] = object{o.Metadata.Finalizers, o.Metadata.DeletionTimestamp != ""}
		}
	}
	return all
}

func (s *explained) until(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.After(30 * time.Second)
	for again := time.NewTicker(20 * time.Millisecond); !holds(); {
		select {
		case <-again.C:
		case <-deadline:
			s.t.Fatalf("not in time: %s; there are %v", what, s.state())
		}
	}
}

// runCommand runs a command, and returns its output.
func (s *explained) runCommand(args ...string) string {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), process.Binary, append(args, "--server", s.url, "--token", s.token,
		"--insecure-skip-tls-verify", "--kubeconfig", "")...)
	c.Env = []string{"HOME=" + s.t.TempDir()}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil || errs.Len() > 0 {
		s.t.Fatalf("%v: %v\n%s", args, err, &errs)
	}
	return out.String()
}

// requireOutput fails unless a command prints lines that contain these texts.
func (s *explained) requireOutput(args []string, texts ...string) {
	s.t.Helper()
	out := s.runCommand(args...)
	for _, text := range texts {
		if !strings.Contains(out, text) {
			s.t.Errorf("%v: no %q in\n%s", args, text, out)
		}
	}
}

// previewed returns the state after those changes of a preview that the user and the server itself make. No collector
// runs here.
func (s *explained) previewed(args ...string) map[string]object {
	s.t.Helper()
	var p struct {
		Changes []struct {
			Change, By string
			Object     struct{ Name string }
			Finalizers []string
		}
	}
	out := s.runCommand(append([]string{"preview", "delete", "-n", "ns", "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	state := s.state()
	for _, c := range p.Changes {
		switch {
		case c.By == "garbage collector":
		case c.Change == "Deleted":
			delete(state, c.Object.Name)
		case c.Change == "Terminating", c.Change == "FinalizersChanged":
			state[c.Object.Name] = object{c.Finalizers, true}
		case c.Change == "FinalizerRemoved":
			o := state[c.Object.Name]
			o.Finalizers = slices.DeleteFunc(o.Finalizers, func(f string) bool { return slices.Contains(c.Finalizers, f) })
			state[c.Object.Name] = o
		default:
			s.t.Errorf("%v: change %+v", args, c)
		}
	}
	return state
}

// TestExplanationsHoldOnUpstream runs tree, why, lint and preview for a server that is not ours, and then sends the
// previewed deletions. Their effect is that of the preview.
func TestExplanationsHoldOnUpstream(t *testing.T) {
	s := startExplained(t)
	s.create("root", "")
	s.create("child", "root")
	s.create("grandchild", "child")
	s.create("held", "root", "example.com/hold")
	s.create("stray", "nothing")
	s.create("other", "", "example.com/hold")

	s.requireOutput([]string{"tree", "wd/root", "-n", "ns"}, "ns/widget.example.com/root", "├─ ns/widget.example.com/child [blocking]",
		"│  └─ ns/widget.example.com/grandchild", "└─ ns/widget.example.com/held (finalizers example.com/hold)")
	s.requireOutput([]string{"tree", "widget", "grandchild", "-n", "ns"}, "owners:", "└─ ns/widget.example.com/child")
	s.requireOutput([]string{"tree", "crd/widgets.example.com"}, "customresourcedefinition.apiextensions.k8s.io/widgets.example.com")
	s.requireOutput([]string{"why", "widgets.example.com/child", "-n", "ns"}, "kept by its owner Widget root")
	s.requireOutput([]string{"why", "wd/stray", "-n", "ns"}, "its owner Widget nothing does not exist")
	s.requireOutput([]string{"lint", "-A"}, "MissingOwner (1)", "UnknownFinalizer (1)", "ns/widget.example.com/stray")
	s.requireOutput([]string{"preview", "delete", "-n", "ns", "wd/root", "--cascade=foreground"},
		"warning: the server serves no namespaces: it is a part of a cluster",
		"ns/widget.example.com/root begins to terminate (finalizers foregroundDeletion), by the user",
		"ns/widget.example.com/child begins to terminate (finalizers foregroundDeletion), by the garbage collector",
		"ns/widget.example.com/held (finalizers example.com/hold)", "widgets.example.com: 2 deleted, 2 kept, terminating")

	for _, step := range []struct{ name, cascade, policy string }{
		{"child", "orphan", "Orphan"}, {"grandchild", "background", "Background"}, {"held", "background", "Background"},
		{"held", "foreground", "Foreground"}, {"root", "foreground", "Foreground"}, {"root", "background", "Background"},
	} {
		want := s.previewed("wd", step.name, "--cascade", step.cascade)
		s.send("DELETE", widgets+"/"+step.name, fmt.Sprintf(`{"propagationPolicy":%q}`, step.policy))
		if got := s.state(); !reflect.DeepEqual(got, want) {
			t.Fatalf("DELETE of %s, %s: %v, foreseen %v", step.name, step.policy, got, want)
		}
	}

	// No collector processes the object. The last remedy of each finalizer removes the finalizer.
	s.requireOutput([]string{"why", "wd/child", "-n", "ns"}, "finalizer orphan", "kube-controller-manager")
	s.free("child")
	s.requireOutput([]string{"why", "wd/held", "-n", "ns"}, "finalizer example.com/hold")
	s.free("held")

	// Previews assume that a collector has deleted it.
	s.send("DELETE", widgets+"/stray", "")

	// The controller of CRDs is a part of this server, so all changes of the preview happen.
	want := s.previewed("crd", "widgets.example.com")
	s.send("DELETE", crds+"/widgets.example.com", "")
	s.until("the state is "+fmt.Sprint(want), func() bool { return reflect.DeepEqual(s.state(), want) })
	s.requireOutput([]string{"why", "crd/widgets.example.com"}, "1 custom resource", "ns/widget.example.com/other: terminating",
		"finalizer example.com/hold")
	s.free("other")
	s.until("the CRD is gone", func() bool { return len(s.state()) == 0 })
}

// free executes the remedies of why that remove finalizers, one after the other, until the object is gone.
func (s *explained) free(name string) {
	s.t.Helper()
	for range 5 {
		if _, ok := s.state()[name]; !ok {
			return
		}
		out := s.runCommand("why", "wd/"+name, "-n", "ns")
		_, command, found := strings.Cut(out, "$ kubectl patch widgets.example.com "+name+" --namespace ns --type=json -p '")
		body, _, ended := strings.Cut(command, "'")
		if !found || !ended {
			s.t.Fatalf("no command in\n%s", out)
		}
		s.send("PATCH", widgets+"/"+name, body)
	}
	s.t.Errorf("%s is still there: %v", name, slices.Sorted(maps.Keys(s.state())))
}
