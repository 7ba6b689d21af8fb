package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/kubecascadetest"
)

// server is a server for the tests, with a client.
type server struct {
	t testing.TB
	*kubecascade.Server
	client    *cluster.Client
	discovery *cluster.Discovery
}

func start(t testing.TB) *server {
	t.Helper()
	s := &server{t: t, Server: kubecascadetest.New(t)}
	h, err := rest.HTTPClientFor(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	s.client = &cluster.Client{URL: s.URL(), HTTP: h}
	if s.discovery, err = s.client.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// send sends a request and returns the uid in the response. The collector may have deleted the object of a PATCH or
// DELETE.
func (s *server) send(method, path string, body any) (uid string) {
	s.t.Helper()
	a, err := apiservertest.Send(s.client.HTTP, method, s.URL()+path, body)
	if err != nil || a.Code >= 300 && (method == http.MethodPost || a.Code != http.StatusNotFound) {
		s.t.Fatalf("%s %s: %d %s %v", method, path, a.Code, a.Body, err)
	}
	return string(a.Object().GetUID())
}

func (s *server) settle(ctx context.Context) {
	s.t.Helper()
	if err := s.Settle(ctx); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) read(ctx context.Context) *explain.Cluster {
	s.t.Helper()
	c, _, err := cluster.Read(ctx, s.client, cluster.Options{Discovery: s.discovery, Now: time.Now})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// fate has the fields of an object that are compared.
type fate struct {
	Owners     []graph.Owner
	Finalizers []string
	Deleting   bool
}

// fates returns the fates of all objects of the namespaces and of cluster roles whose name has the prefix.
func fates(c *explain.Cluster, prefix string) map[graph.Key]fate {
	all := map[graph.Key]fate{}
	for _, o := range c.Objects {
		if o.Collection == "events" { // they are written whenever there is time, and concern no other object
			continue
		}
		if strings.HasPrefix(o.Namespace, prefix) || o.Namespace == "" && strings.HasPrefix(o.Name, prefix) {
			f := fate{Owners: o.Owners, Finalizers: o.Finalizers, Deleting: !o.Deletion.IsZero()}
			slices.Sort(f.Finalizers)
			all[o.Key] = f
		}
	}
	return all
}

// TestPreviewEqualsDeletion creates random objects with correct and wrong owner references, compares the preview of a
// deletion with the effect of the deletion, and repeats that with the remaining objects. SEEDS is the number of runs.
func TestPreviewEqualsDeletion(t *testing.T) {
	runs := 15
	if n, err := strconv.Atoi(os.Getenv("SEEDS")); err == nil {
		runs = n
	}
	var s *server
	first := seed.Of(t)
	racing, asked := 0, 0
	for i := range runs {
		if i%50 == 0 { // each run reads what all earlier ones have left
			s = start(t)
			s.admission()
		}
		g := &graphs{server: s, rand: rand.New(rand.NewPCG(first, uint64(i))), prefix: fmt.Sprintf("run%d-", i)}
		g.make(t.Context())
		for range 3 {
			if !g.compare(t.Context()) {
				break
			}
		}
		racing, asked = racing+g.racing, asked+g.asked
		if t.Failed() {
			t.Fatalf("run %d of seed %d", i, first)
		}
	}
	t.Logf("%d of about %d previews depend on time", racing, 3*runs)
	if asked == 0 {
		t.Error("no preview names a webhook or a policy")
	}
	if racing > runs { // a third of all
		t.Errorf("too many of the previews say nothing: %d", racing)
	}
}

// graphs makes random objects.
type graphs struct {
	*server
	rand   *rand.Rand
	prefix string
	made   []made
	// racing is the number of previews whose outcome depends on time.
	racing int
	// asked is the number of webhooks and policies that the previews named.
	asked int
}

// admission creates webhooks and policies that deny nothing, but that previews name: they select by the labels of
// namespaces and objects. The webhooks' conditions never hold, so that none is called.
func (s *server) admission() {
	s.t.Helper()
	const path = "/apis/admissionregistration.k8s.io/v1/"
	for name, external := range map[string]string{"empty": "", "external": "example.com"} {
		spec := map[string]any{"ports": []any{map[string]any{"port": 443}}}
		if external != "" {
			spec = map[string]any{"type": "ExternalName", "externalName": external}
		}
		o := named(name, nil)
		o["spec"] = spec
		s.send(http.MethodPost, "/api/v1/namespaces/default/services", o)
	}
	selector := func(value string) map[string]any {
		return map[string]any{"matchLabels": map[string]string{"team": value}}
	}
	rules := []any{map[string]any{
		"apiGroups": []string{"*"}, "apiVersions": []string{"*"}, "resources": []string{"*"},
		"operations": []string{"UPDATE", "DELETE"},
	}}
	webhook := func(name, service string, more map[string]any) map[string]any {
		w := map[string]any{
			"name": name + ".example.com", "rules": rules, "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
			"clientConfig":    map[string]any{"service": map[string]string{"namespace": "default", "name": service}},
			"matchConditions": []any{map[string]string{"name": "never", "expression": "false"}},
		}
		maps.Copy(w, more)
		return w
	}
	o := named("validating", nil)
	o["webhooks"] = []any{
		webhook("namespace", "absent", map[string]any{"namespaceSelector": selector("red")}),
		webhook("object", "empty", map[string]any{"objectSelector": selector("red"), "failurePolicy": "Ignore"}),
		webhook("both", "external", map[string]any{
			"namespaceSelector": selector("blue"), "objectSelector": selector("red"),
		}),
	}
	s.send(http.MethodPost, path+"validatingwebhookconfigurations", o)
	o = named("mutating", nil)
	o["webhooks"] = []any{webhook("mutates", "empty", map[string]any{"namespaceSelector": map[string]any{
		"matchExpressions": []any{map[string]any{"key": "team", "operator": "NotIn", "values": []string{"red"}}},
	}})}
	s.send(http.MethodPost, path+"mutatingwebhookconfigurations", o)
	o = named("policy", nil)
	o["spec"] = map[string]any{
		"matchConstraints": map[string]any{"resourceRules": rules},
		"validations":      []any{map[string]string{"expression": "true"}},
	}
	s.send(http.MethodPost, path+"validatingadmissionpolicies", o)
	o = named("binding", nil)
	o["spec"] = map[string]any{
		"policyName": "policy", "validationActions": []string{"Deny"},
		"matchResources": map[string]any{"namespaceSelector": selector("blue"), "objectSelector": selector("blue")},
	}
	s.send(http.MethodPost, path+"validatingadmissionpolicybindings", o)
}

// labels are none, or those of a team.
func (g *graphs) labels() map[string]string {
	return []map[string]string{nil, {"team": "red"}, {"team": "blue"}}[g.rand.IntN(3)]
}

// made is an object that was made, with a reference to it.
type made struct {
	path  string
	key   graph.Key
	owner map[string]any
}

// make makes two namespaces with objects, of which later ones refer to earlier ones, and some earlier ones to later.
func (g *graphs) make(ctx context.Context) {
	for _, n := range []string{"a", "b"} {
		g.send(http.MethodPost, "/api/v1/namespaces", named(g.prefix+n, map[string]any{"labels": g.labels()}))
	}
	for i := range 3 + g.rand.IntN(8) {
		g.create(i)
	}
	for range g.rand.IntN(3) { // cycles
		from := g.made[g.rand.IntN(len(g.made))]
		if owners := g.owners(g.made); len(owners) > 0 {
			g.send(http.MethodPatch, from.path, map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
		}
	}
	g.settle(ctx)
}

func named(name string, meta map[string]any) map[string]any {
	m := map[string]any{"name": name}
	maps.Copy(m, meta)
	return map[string]any{"metadata": m}
}

// create creates a config map, a secret, a job or a cluster role.
func (g *graphs) create(i int) {
	meta := map[string]any{"labels": g.labels()}
	if owners := g.owners(g.made); len(owners) > 0 {
		meta["ownerReferences"] = owners
	}
	var fin []string
	if g.rand.IntN(5) == 0 {
		fin = append(fin, "example.com/hold")
	}
	if g.rand.IntN(12) == 0 {
		fin = append(fin, []string{finalizers.Orphan, finalizers.Foreground}[g.rand.IntN(2)])
	}
	if fin != nil {
		meta["finalizers"] = fin
	}
	name := fmt.Sprintf("%so%d", g.prefix, i)
	base, kind, apiVersion, collection := "/api/v1", "ConfigMap", "v1", "configmaps"
	namespace := g.prefix + []string{"a", "a", "a", "b"}[g.rand.IntN(4)]
	switch g.rand.IntN(6) {
	case 0:
		kind, collection = "Secret", "secrets"
	case 1:
		base, kind, apiVersion = "/apis/rbac.authorization.k8s.io/v1", "ClusterRole", "rbac.authorization.k8s.io/v1"
		collection, namespace = "clusterroles", ""
	case 2: // its default is Orphan
		kind, collection = "ReplicationController", "replicationcontrollers"
	}
	path := base + "/" + collection
	key := graph.Key{Collection: collection, Namespace: namespace, Name: name}
	if namespace != "" {
		path = base + "/namespaces/" + namespace + "/" + collection
	} else {
		key.Collection += ".rbac.authorization.k8s.io"
	}
	object := named(name, meta)
	if kind == "ReplicationController" {
		object["spec"] = map[string]any{"replicas": 0, "selector": map[string]string{"x": name}, "template": map[string]any{
			"metadata": map[string]any{"labels": map[string]string{"x": name}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
		}}
	}
	uid := g.send(http.MethodPost, path, object)
	g.made = append(g.made, made{path: path + "/" + name, key: key, owner: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "name": name, "uid": uid,
	}})
}

// owners are references to up to three of the objects, some of which are wrong. It has no reference twice.
func (g *graphs) owners(of []made) (owners []map[string]any) {
	for range g.rand.IntN(4) {
		if len(of) == 0 {
			return nil
		}
		owner := maps.Clone(of[g.rand.IntN(len(of))].owner)
		if g.rand.IntN(2) == 0 {
			owner["blockOwnerDeletion"] = true
		}
		switch g.rand.IntN(16) {
		case 0:
			owner["name"] = "other"
		case 1:
			owner["uid"] = fmt.Sprintf("never-%d", g.rand.IntN(3))
		case 2:
			owner["apiVersion"] = "example.com/v1"
		}
		if !slices.ContainsFunc(owners, func(o map[string]any) bool { return o["uid"] == owner["uid"] }) {
			owners = append(owners, owner)
		}
	}
	return owners
}

// compare previews a deletion of some objects, carries it out, and compares. It reports whether something is left.
func (g *graphs) compare(ctx context.Context) bool {
	before := g.read(ctx)
	have := fates(before, g.prefix)
	var keys []graph.Key
	policy := []string{"", "Background", "Foreground", "Orphan"}[g.rand.IntN(4)]
	for _, m := range g.made {
		if _, ok := have[m.key]; ok && g.rand.IntN(3) == 0 {
			keys = append(keys, m.key)
		}
	}
	if len(keys) == 0 {
		return len(have) > 2
	}
	deletion := finalizers.Options{PropagationPolicy: policy}
	p := before.Index().Preview(keys, deletion)
	g.asked += len(p.Admission)
	g.same(ctx, before, keys, deletion, p)
	for _, k := range keys {
		options := map[string]any{}
		if policy != "" {
			options["propagationPolicy"] = policy
		}
		i := slices.IndexFunc(g.made, func(m made) bool { return m.key == k })
		g.send(http.MethodDelete, g.made[i].path, options)
	}
	g.settle(ctx)
	got := fates(g.read(ctx), g.prefix)
	want := after(have, p)
	if slices.ContainsFunc(p.Warnings, func(w explain.Warning) bool {
		return strings.HasPrefix(w.Text, "the outcome depends on")
	}) {
		g.racing++
	} else if !reflect.DeepEqual(got, want) {
		g.t.Errorf("policy %q of %v:\n%s\nis\n%s\nexpected\n%s\nfrom\n%s", policy, keys,
			p.Text(explain.Style{}), show(got), show(want), show(have))
	}
	return len(got) > 2
}

// same compares answers from lists with the server's own: the preview, and tree and why of each object.
func (g *graphs) same(
	ctx context.Context, c *explain.Cluster, keys []graph.Key, deletion finalizers.Options, p *explain.Preview,
) {
	g.t.Helper()
	ask := func(path string, keys []graph.Key, o finalizers.Options, want, into any) {
		g.t.Helper()
		q := &cluster.Question{Path: path, Namespace: keys[0].Namespace, Options: o}
		for _, k := range keys {
			q.Objects = append(q.Objects, cluster.Named{Resource: k.Collection, Namespace: k.Namespace, Name: k.Name})
		}
		if err := g.client.Ask(ctx, q, into); err != nil {
			g.t.Fatalf("%s %v: %v", path, keys, err)
		}
		if got, want := comparable(g.t, into), comparable(g.t, want); got != want {
			g.t.Errorf("%s of %v: the server's answer is\n%s\nexpected\n%s", path, keys, got, want)
		}
	}
	ask("preview", keys, deletion, p, &explain.Preview{})
	for _, o := range c.Objects {
		if strings.HasPrefix(o.Namespace, g.prefix) || strings.HasPrefix(o.Name, g.prefix) {
			one := []graph.Key{o.Key}
			ask("tree", one, finalizers.Options{}, c.Index().Tree(o.Key), &explain.Tree{})
			ask("why", one, finalizers.Options{}, c.Index().Why(o.Key), &explain.Reason{})
		}
	}
}

// timed matches the parts that differ between two answers about the same objects.
var timed = regexp.MustCompile(`"resourceVersion": "[0-9]+",\s*|terminating for [0-9a-z]+|ended [0-9a-z]+ ago|ends in [0-9a-z]+`)

// comparable returns an answer without the parts that depend on its time.
func comparable(t testing.TB, answer any) string {
	t.Helper()
	data, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return timed.ReplaceAllString(string(data), "")
}

// after returns the fates that follow from the changes of a preview.
func after(have map[graph.Key]fate, p *explain.Preview) map[graph.Key]fate {
	now := maps.Clone(have)
	for _, c := range append(slices.Clone(p.Before), p.Changes...) {
		f := now[c.Object.Key()]
		f.Owners, f.Finalizers = slices.Clone(f.Owners), slices.Clone(f.Finalizers)
		switch c.What {
		case explain.Deleted:
			delete(now, c.Object.Key())
			continue
		case explain.Marked, explain.Refinalized:
			f.Deleting, f.Finalizers = true, slices.Clone(c.Finalizers)
		case explain.Freed:
			f.Finalizers = slices.DeleteFunc(f.Finalizers, func(n string) bool { return slices.Contains(c.Finalizers, n) })
		case explain.Released:
			f.Owners = slices.DeleteFunc(f.Owners, func(o graph.Owner) bool { return slices.Contains(c.Owners, o) })
		case explain.Unblocked:
			for i := range f.Owners {
				f.Owners[i].Block = f.Owners[i].Block && !slices.Contains(c.Owners, f.Owners[i])
			}
		}
		slices.Sort(f.Finalizers)
		if len(f.Owners) == 0 {
			f.Owners = nil
		}
		if len(f.Finalizers) == 0 {
			f.Finalizers = nil
		}
		now[c.Object.Key()] = f
	}
	return now
}

func show(fates map[graph.Key]fate) string {
	var b strings.Builder
	for _, k := range slices.SortedFunc(maps.Keys(fates), graph.Key.Compare) {
		fmt.Fprintf(&b, "  %s %+v\n", k, fates[k])
	}
	return b.String()
}
