package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// TestScenarios runs the files of testdata. Commands:
//
//	cluster                   the objects, one a line, and what else is known:
//	    KEY uid=U [flag]... [<apiVersion:Kind:name:uid[!][*]]...    (! blocks its owner, * is its controller)
//	    unknown RESOURCE [but=NAMESPACE] REASON | unserved RESOURCE | unavailable APISERVICE MESSAGE
//	    hook KIND NAME [WEBHOOK] OPERATIONS RESOURCES [word]...     asked about RESOURCES, as plural.group
//	    words: namespaces=LABEL objects=LABEL conditional ignores unreachable=WHY
//	    flags: label=KEY:VALUE finalizer=NAME[@MANAGER] deleting=AGE grace=SECONDS node=NAME finished spec=NAME,... uses=KEY,...
//	    condition=TYPE:STATUS:REASON:MESSAGE   (_ is a space)
//	tree KEY | why KEY | lint [NAMESPACE]
//	preview KEY [policy=P] [KEY...]
//	remedy (REASON.REMEDY | last)...   executes remedies of the last why, and lets all components work; prints whether
//	                          the object is gone
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &scenario{t: t}
		datadriven.RunTest(t, path, s.run)
	})
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

type scenario struct {
	t     *testing.T
	c     *Cluster
	asked graph.Key
	why   *Reason
}

func resources() []Resource {
	cluster := func(group, version, kind, plural string) Resource {
		return Resource{Group: group, Versions: []string{version}, Kind: kind, Plural: plural}
	}
	in := func(group, version, kind, plural string) Resource {
		r := cluster(group, version, kind, plural)
		r.Namespaced = true
		return r
	}
	pods := in("", "v1", "Pod", "pods")
	pods.Delete.Graceful = true
	namespaces := cluster("", "v1", "Namespace", "namespaces")
	namespaces.Delete.Namespace = true
	crds := cluster("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions")
	crds.Delete.Cleanup = "customresourcecleanup.apiextensions.k8s.io"
	jobs := in("batch", "v1", "Job", "jobs")
	jobs.Delete.Policy = finalizers.OrphanDependents
	events := in("", "v1", "Event", "events")
	events.Inert, events.Delete.Policy = true, finalizers.Unsupported
	metrics := in("metrics.k8s.io", "v1beta1", "PodMetrics", "pods")
	metrics.Inert, metrics.Fixed = true, true
	crons := in("example.com", "v1", "CronTab", "crontabs")
	crons.Versions = []string{"v1", "v1beta1"}
	return []Resource{
		pods, namespaces, crds, jobs, events, metrics, crons,
		in("", "v1", "ConfigMap", "configmaps"), in("", "v1", "Secret", "secrets"), in("", "v1", "Service", "services"),
		in("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
		in("apps", "v1", "Deployment", "deployments"), in("apps", "v1", "ReplicaSet", "replicasets"),
		cluster("", "v1", "Node", "nodes"), cluster("", "v1", "PersistentVolume", "persistentvolumes"),
		cluster("networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs"),
		cluster("networking.k8s.io", "v1", "IPAddress", "ipaddresses"),
		cluster("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles"),
		cluster("apiregistration.k8s.io", "v1", "APIService", "apiservices"),
		cluster("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
	}
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	var args []string
	policy := ""
	for _, a := range d.CmdArgs {
		if a.Key == "policy" {
			policy = a.Vals[0]
			continue
		}
		args = append(args, a.Key)
	}
	style := Style{Now: now}
	switch d.Cmd {
	case "cluster":
		s.c = &Cluster{Resources: resources(), Now: now}
		for line := range strings.Lines(d.Input) {
			s.add(strings.Fields(line))
		}
		return "ok\n"
	case "tree":
		return s.c.Index().Tree(key(args[0])).Text(style)
	case "why":
		s.asked = key(args[0])
		s.why = s.c.Index().Why(s.asked)
		return s.why.causes("") + "\n" + s.why.Text(style)
	case "lint":
		return Report(s.c.Index().Lint(strings.Join(args, "")), style)
	case "preview":
		var keys []graph.Key
		for _, a := range args {
			keys = append(keys, key(a))
		}
		p := s.c.Index().Preview(keys, finalizers.Options{PropagationPolicy: policy})
		s.check(p)
		return p.Text(style)
	case "remedy":
		return s.remedy(args)
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

// causes prints the causes alone.
func (r *Reason) causes(indent string) string {
	text := indent + string(r.Cause) + "\n"
	for _, b := range r.Below {
		text += b.causes(indent + "  ")
	}
	return text
}

func key(s string) graph.Key {
	parts := strings.Split(s, "/")
	if len(parts) == 2 {
		return graph.Key{Collection: parts[0], Name: parts[1]}
	}
	return graph.Key{Collection: parts[0], Namespace: parts[1], Name: parts[2]}
}

func (s *scenario) resource(name string) *Resource {
	for i := range s.c.Resources {
		if s.c.Resources[i].Name() == name {
			return &s.c.Resources[i]
		}
	}
	s.t.Fatalf("no resource %s", name)
	return nil
}

func (s *scenario) add(words []string) {
	switch words[0] {
	case "unknown":
		r := s.resource(words[1])
		if namespace, ok := strings.CutPrefix(words[2], "but="); ok {
			r.Within, words = namespace, words[1:]
		}
		r.Unknown = strings.Join(words[2:], " ")
		return
	case "unserved":
		r := s.resource(words[1])
		s.c.Resources = slices.DeleteFunc(s.c.Resources, func(o Resource) bool { return o.Name() == r.Name() })
		return
	case "hook":
		s.c.Hooks = append(s.c.Hooks, s.hook(words[1:]))
		return
	case "unavailable":
		s.c.Unavailable = append(s.c.Unavailable, Unavailable{Name: words[1], Message: strings.Join(words[2:], " ")})
		return
	}
	o := &Object{Key: key(words[0])}
	if r := s.resource(o.Collection); r.Delete.Namespace {
		o.SpecFinalizers = []string{kubernetes}
	}
	for _, w := range words[1:] {
		s.flag(o, w)
	}
	s.c.Objects = append(s.c.Objects, o)
}

// hook reads a webhook or a policy. Labels are KEY:VALUE, KEY:!VALUE for another value, or KEY for any.
func (s *scenario) hook(words []string) Hook {
	h := Hook{Kind: words[0], Name: words[1], Fails: true}
	if words = words[2:]; strings.HasSuffix(h.Kind, "Configuration") {
		h.Webhook, words = words[0], words[1:]
	}
	operations := strings.Split(words[0], ",")
	pattern, group, _ := strings.Cut(words[1], ".")
	resource, sub, _ := strings.Cut(pattern, "/")
	var object, namespace string
	for _, w := range words[2:] {
		switch name, value, _ := strings.Cut(w, "="); name {
		case "namespaces":
			namespace = value
		case "objects":
			object = value
		case "conditional":
			h.Conditional = true
		case "ignores":
			h.Fails = false
		case "unreachable":
			h.Unreachable = strings.ReplaceAll(value, "_", " ")
		default:
			s.t.Fatalf("unknown word %s", w)
		}
	}
	is := func(want, got string) bool { return want == "*" || want == got }
	h.Matches = func(r *Request) bool {
		return slices.ContainsFunc(operations, func(o string) bool { return is(o, r.Operation) }) &&
			is(group, r.Resource.Group) && is(resource, r.Resource.Plural) && sub == r.Subresource &&
			labelled(r.Object, object) && labelled(r.Namespace, namespace)
	}
	return h
}

// labelled reports whether an object has a label, or may have it.
func labelled(o *Object, label string) bool {
	if o == nil || label == "" {
		return true
	}
	k, v, exact := strings.Cut(label, ":")
	not, other := strings.CutPrefix(v, "!")
	value, has := o.Labels[k]
	switch {
	case other:
		return value != not
	case exact:
		return value == v
	}
	return has
}

func (s *scenario) flag(o *Object, word string) {
	if owner, ok := strings.CutPrefix(word, "<"); ok {
		block, controls := strings.Contains(owner, "!"), strings.Contains(owner, "*")
		f := strings.Split(strings.Trim(owner, "!*"), ":")
		o.Owners = append(o.Owners, graph.Owner{APIVersion: f[0], Kind: f[1], Name: f[2], UID: f[3], Block: block})
		if controls {
			o.Controller = f[3]
		}
		return
	}
	name, value, _ := strings.Cut(word, "=")
	switch name {
	case "uid":
		o.UID = value
	case "label":
		k, v, _ := strings.Cut(value, ":")
		o.Labels = map[string]string{k: v}
	case "finalizer":
		f, by, _ := strings.Cut(value, "@")
		o.Finalizers = append(o.Finalizers, f)
		if by != "" {
			o.Setters = map[string]string{f: by}
		}
	case "deleting":
		age, err := time.ParseDuration(value)
		if err != nil {
			s.t.Fatal(err)
		}
		o.Deletion = now.Add(-age)
		if o.GraceSeconds == nil {
			o.GraceSeconds = new(int64)
		}
	case "grace":
		n, _ := strconv.ParseInt(value, 10, 64)
		o.GraceSeconds = &n
	case "node":
		o.Pod = &Pod{Node: value, GraceSeconds: new(int64(30))}
	case "finished":
		o.Pod.Finished = true
	case "uses":
		o.Uses = append(o.Uses, nil)
		for k := range strings.SplitSeq(value, ",") {
			o.Uses[len(o.Uses)-1] = append(o.Uses[len(o.Uses)-1], key(k))
		}
	case "spec":
		o.SpecFinalizers = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
	case "condition":
		f := strings.SplitN(strings.ReplaceAll(value, "_", " "), ":", 4)
		o.Conditions = append(o.Conditions, Condition{f[0], f[1], f[2], f[3]})
	default:
		s.t.Fatalf("unknown word %s", word)
	}
}

// remedy executes remedies of the last why on a world of the whole cluster, in which no expected finalizer is removed.
func (s *scenario) remedy(which []string) string {
	x := s.c.Index()
	w := x.world(x.c.Objects, allWorkers)
	var listed []*Reason
	var collect func(*Reason)
	collect = func(r *Reason) {
		if len(r.Remedies) > 0 {
			listed = append(listed, r)
		}
		for _, b := range r.Below {
			collect(b)
		}
	}
	collect(s.why)
	for _, one := range which {
		reason, remedy, _ := strings.Cut(one, ".")
		i, _ := strconv.Atoi(reason)
		j, _ := strconv.Atoi(remedy)
		s.carry(w, listed[i-1].Remedies[j-1])
		w.work(w.collect, w.clean)
	}
	if o := w.objects[s.asked]; o != nil {
		return fmt.Sprintf("stays: %s %v\n", o.Key, w.holds(o))
	}
	left := ""
	for _, o := range sorted(w.deleting) {
		left = cmp.Or(left, "; still terminating:") + " " + o.Key.String()
	}
	return "gone" + left + "\n"
}

// carry changes the world as the command of a remedy does.
func (s *scenario) carry(w *world, r Remedy) {
	o := w.objects[r.Object.Key()]
	if o == nil && s.c.Index().Object(r.Object.Key()) != nil {
		return // an earlier remedy was enough
	} else if o == nil {
		s.t.Fatalf("remedy %q: no object %s", r.Text, r.Object)
	}
	switch r.Action {
	case Touch:
		w.update(o, o, "", User)
	case DeleteObject:
		w.delete(o, finalizers.Options{PropagationPolicy: "Background"}, User)
		s.c.Unavailable = slices.DeleteFunc(s.c.Unavailable, func(u Unavailable) bool { return u.Name == o.Name })
	case DeleteNow:
		w.delete(o, finalizers.Options{GracePeriodSeconds: new(int64), PropagationPolicy: "Background"}, User)
	case RemoveItem:
		s.removeItem(w, o, r)
	default:
		s.t.Fatalf("remedy %q is advice", r.Text)
	}
	if (r.Command == "") != (r.Action == "" || r.Action == Wait) {
		s.t.Fatalf("remedy %q: command %q", r.Text, r.Command)
	}
}

// removeItem removes an item of a list. An earlier remedy may have changed the item's place; the command would then
// fail, and the next answer would have the new place.
func (s *scenario) removeItem(w *world, o *Object, r Remedy) {
	one := itemOf(s.t, r.Command)
	if !one.in(s.c.Index().Object(r.Object.Key())) {
		s.t.Fatalf("remedy %q: no item %+v", r.Text, one)
	}
	switch one.list {
	case finalizersList:
		w.removeFinalizer(o, one.value, User)
	case specList:
		w.finalize(o, one.value, User)
	case ownersList:
		w.release(o, []string{one.value}, User)
	}
}

// check checks the properties of every preview.
func (s *scenario) check(p *Preview) {
	gone := map[string]bool{}
	for _, c := range append(slices.Clone(p.Before), p.Changes...) {
		if gone[c.Object.UID] {
			s.t.Errorf("%v: it was deleted before", c)
		}
		gone[c.Object.UID] = c.What == Deleted
	}
	for _, l := range p.Left {
		if gone[l.Object.UID] {
			s.t.Errorf("%v is left and deleted", l)
		}
	}
}
