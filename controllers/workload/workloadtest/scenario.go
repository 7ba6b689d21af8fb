package workloadtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Options configure scenarios.
type Options struct {
	// Controllers run in this order.
	Controllers []workload.Controller
	// Check, if set, returns the first invariant that doesn't hold; it is called after every step.
	Check func(*World) error
	// Default, if set, sets the defaults that an API server would.
	Default func(workload.Object)
	// Print, if set, prints an object for the command show; otherwise it is YAML.
	Print func(workload.Object) string
}

// Scenarios runs the files of a directory. An object is named KIND/NAME, and is in the namespace "a" if its YAML names
// no other. The commands are
//
//	put                      the YAML documents are stored
//	patch KIND/NAME          the YAML is merged into it, as strategic merge patch; status too
//	delete KIND/NAME         as a client deletes
//	remove KIND/NAME         it is gone at once
//	pass KIND/NAME           one pass of every controller that is for the kind
//	settle                   passes until nothing happens any more
//	after DURATION           time passes
//	run [ready=D] NAME...    pods are bound to their node, or to n, and Running, and Ready since now or for D already
//	finish NAME... [failed]  pods are Succeeded or Failed
//	fail create|update|delete MESSAGE
//	                         such actions fail from now on; fail off ends it
//	show KIND[/NAME]         what is stored
//
// Passes and show print; other commands print nothing.
func Scenarios(t *testing.T, dir string, o Options) {
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		s := &scenario{World: New(), o: o}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out := s.step(t, d)
			err := s.Check()
			if err == nil && o.Check != nil {
				err = o.Check(s.World)
			}
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return out
		})
	})
}

type scenario struct {
	*World
	o Options
}

func (s *scenario) step(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "put":
		for _, doc := range strings.Split(d.Input, "\n---\n") {
			s.Put(s.parse(t, d, doc))
		}
	case "patch":
		s.patch(t, d, s.named(t, d))
	case "delete":
		s.Remove(s.named(t, d))
	case "remove":
		delete(s.objects, keyOf(s.named(t, d)))
	case "pass":
		o := s.named(t, d)
		var out string
		for _, c := range s.o.Controllers {
			if c.For == workload.Of(o) {
				out += s.Pass(c, workload.KeyOf(o))
			}
		}
		return out
	case "settle":
		return s.Settle(s.o.Controllers...)
	case "after":
		s.Now = s.Now.Add(duration(t, d, d.CmdArgs[0].Key))
	case "run":
		s.pods(t, d, s.run)
	case "finish":
		s.pods(t, d, finish)
	case "fail":
		s.fail(d)
	case "show":
		return s.show(t, d)
	default:
		d.Fatalf(t, "unknown command")
	}
	return ""
}

func duration(t *testing.T, d *datadriven.TestData, text string) time.Duration {
	n, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return n
}

func (s *scenario) parse(t *testing.T, d *datadriven.TestData, doc string) workload.Object {
	var head metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(doc), &head); err != nil {
		d.Fatalf(t, "%v", err)
	}
	o := kind(t, d, head.Kind).New()
	if err := yaml.UnmarshalStrict([]byte(doc), o); err != nil {
		d.Fatalf(t, "%v", err)
	}
	if o.GetNamespace() == "" && !slices.Contains(clusterScoped, workload.Of(o)) {
		o.SetNamespace("a")
	}
	if s.o.Default != nil {
		s.o.Default(o)
	}
	return o
}

// clusterScoped has the resources whose objects are in no namespace.
var clusterScoped = []workload.Resource{workload.Nodes, workload.CertificateSigningRequests, workload.Volumes,
	workload.StorageClasses, workload.ClusterTrustBundles, workload.ResourceSlices, workload.TaintRules,
	workload.Namespaces, workload.AttributesClasses, workload.ClusterRoles, workload.Policies,
	workload.ServiceCIDRs, workload.IPAddresses}

func kind(t *testing.T, d *datadriven.TestData, name string) workload.Resource {
	for _, r := range workload.Resources() {
		if strings.EqualFold(r.Kind, name) {
			return r
		}
	}
	d.Fatalf(t, "there is no kind %q", name)
	return workload.Resource{}
}

// named returns the object of the first argument.
func (s *scenario) named(t *testing.T, d *datadriven.TestData) workload.Object {
	k, name, _ := strings.Cut(d.CmdArgs[0].Key, "/")
	for _, o := range s.All(kind(t, d, k), "") {
		if o.GetName() == name {
			return o
		}
	}
	d.Fatalf(t, "there is no %s", d.CmdArgs[0].Key)
	return nil
}

func (s *scenario) patch(t *testing.T, d *datadriven.TestData, o workload.Object) {
	old, err := json.Marshal(o)
	doc, yamlErr := yaml.YAMLToJSON([]byte(d.Input))
	var next []byte
	if err = cmp.Or(err, yamlErr); err == nil {
		next, err = strategicpatch.StrategicMergePatch(old, doc, workload.Of(o).New())
	}
	out := workload.Of(o).New()
	if err == nil {
		err = yaml.Unmarshal(next, out)
	}
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	if changed(o, out) {
		out.SetGeneration(o.GetGeneration() + 1)
	}
	s.Put(out)
}

// pods changes the pods of the arguments.
func (s *scenario) pods(
	t *testing.T, d *datadriven.TestData, change func(*testing.T, *datadriven.TestData, *corev1.Pod),
) {
	for _, a := range d.CmdArgs {
		if len(a.Vals) > 0 || a.Key == "failed" {
			continue
		}
		n := 0
		for _, o := range s.All(workload.Pods, "") {
			if o.GetName() == a.Key || a.Key == "all" && o.GetDeletionTimestamp() == nil {
				pod := o.DeepCopyObject().(*corev1.Pod)
				change(t, d, pod)
				s.Put(pod)
				n++
			}
		}
		if n == 0 {
			d.Fatalf(t, "there is no pod %q", a.Key)
		}
	}
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData, p *corev1.Pod) {
	since := s.Now
	if d.HasArg("ready") {
		var text string
		d.ScanArgs(t, "ready", &text)
		since = since.Add(-duration(t, d, text))
	}
	p.Spec.NodeName, p.Status.Phase = node(p), corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(since)},
	}
}

// node returns the node to which a scheduler would assign the pod: the one that it names, or n.
func node(p *corev1.Pod) string { return cmp.Or(workload.NamedNode(workload.NodeTerms(p)...), "n") }

func finish(_ *testing.T, d *datadriven.TestData, p *corev1.Pod) {
	p.Spec.NodeName, p.Status.Phase = node(p), corev1.PodSucceeded
	if d.HasArg("failed") {
		p.Status.Phase = corev1.PodFailed
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
}

func (s *scenario) fail(d *datadriven.TestData) {
	verb, message := d.CmdArgs[0].Key, strings.TrimSpace(d.Input)
	s.Fail = func(a workload.Action) error {
		if strings.HasPrefix(a.String(), verb+" ") {
			return apierrors.NewInternalError(fmt.Errorf("%s", message))
		}
		return nil
	}
}

func (s *scenario) show(t *testing.T, d *datadriven.TestData) string {
	k, name, one := strings.Cut(d.CmdArgs[0].Key, "/")
	var b strings.Builder
	for _, o := range s.All(kind(t, d, k), "") {
		switch {
		case one && o.GetName() != name:
		case s.o.Print != nil:
			fmt.Fprintln(&b, s.o.Print(o))
		default:
			text, err := yaml.Marshal(o)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			b.Write(text)
		}
	}
	return b.String()
}
