package daemonset

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

type event = workload.Event

// pass has the state of one decision about a set.
type pass struct {
	workload.View
	set    *appsv1.DaemonSet
	now    time.Time
	failed *failures
	// nodes has all nodes, by name. want has the nodes that should have a pod, keep those on which a pod may stay.
	nodes      []*corev1.Node
	want, keep map[string]bool
	// pods has the set's pods. on has the pods with a node, by the node's name; the first of a node is the last to be
	// deleted.
	pods []*corev1.Pod
	on   map[string][]*corev1.Pod
	revisions
	// create has the nodes that get a pod, remove the pods to delete.
	create []string
	remove []*corev1.Pod
	plan   workload.Plan
}

// revisions has the revisions of the set. history is sorted. current is one of history, with its hash; old has the
// others.
type revisions struct {
	history, old []*appsv1.ControllerRevision
	current      *appsv1.ControllerRevision
	hash         string
}

// read finds the set's pods and revisions, and returns the actions that adopt and release them.
func (s *pass) read() []workload.Action {
	claiming := workload.Claiming{Selector: workload.Selector(s.set.Spec.Selector)}
	var pods, revisions []workload.Action
	s.pods, pods = workload.Claim(s.set, claiming,
		workload.Controlled[*corev1.Pod](s.View, s.set.UID), workload.Free[*corev1.Pod](s.View, s.set.Namespace))
	s.history, revisions = workload.Claim(s.set, claiming,
		workload.Controlled[*appsv1.ControllerRevision](s.View, s.set.UID), workload.Free[*appsv1.ControllerRevision](
			s.View, s.set.Namespace,
		))
	if do := append(pods, revisions...); len(do) > 0 {
		return do
	}
	s.on = map[string][]*corev1.Pod{}
	for _, p := range s.pods {
		// A finished pod that is being deleted doesn't count for its node.
		if node := target(p); node != "" && (!workload.Finished(p) || p.DeletionTimestamp == nil) {
			s.on[node] = append(s.on[node], p)
		}
	}
	for _, list := range s.on {
		slices.SortFunc(list, oldest)
	}
	s.nodes, s.want, s.keep = workload.All[*corev1.Node](s.View, ""), map[string]bool{}, map[string]bool{}
	template := s.newPod("")
	for _, n := range s.nodes {
		s.want[n.Name], s.keep[n.Name] = fit(n, &template.Spec, s.set.Spec.Template.Spec.Affinity)
	}
	return nil
}

// oldest orders pods: the first one stays. Assigned pods come first, then older ones (daemon_controller.go:
// podByCreationTimestampAndPhase).
func oldest(a, b *corev1.Pod) int {
	return cmp.Or(workload.FalseFirst(a.Spec.NodeName == "", b.Spec.NodeName == ""),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// target returns the node that the pod is on, or was created for (daemon/util: GetTargetNodeName).
func target(p *corev1.Pod) string {
	return cmp.Or(p.Spec.NodeName, workload.NamedNode(workload.NodeTerms(p)...))
}

// generation returns the template's generation from an annotation; false if it is absent or invalid (daemon/util:
// GetTemplateGeneration).
func (s *pass) generation() (string, bool) {
	n, err := strconv.ParseInt(s.set.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	return strconv.FormatInt(n, 10), err == nil
}

const generationLabel = "pod-template-generation"

// updated reports whether the pod has the current template (daemon/util: IsPodUpdated).
func (s *pass) updated(p *corev1.Pod) bool {
	g, ok := s.generation()
	return s.hash != "" && p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == s.hash ||
		ok && p.Labels[generationLabel] == g
}

// newPod returns the pod for a node (daemon/util: CreatePodTemplate, ReplaceDaemonSetPodNodeNameNodeAffinity).
func (s *pass) newPod(node string) *corev1.Pod {
	p := workload.FromTemplate(s.set, &s.set.Spec.Template)
	if g, ok := s.generation(); ok {
		metav1.SetMetaDataLabel(&p.ObjectMeta, generationLabel, g)
	}
	if s.hash != "" {
		metav1.SetMetaDataLabel(&p.ObjectMeta, appsv1.DefaultDaemonSetUniqueLabelKey, s.hash)
	}
	p.Spec.Tolerations = tolerant(&p.Spec)
	bind(&p.Spec, node)
	return p
}

func bind(spec *corev1.PodSpec, node string) {
	spec.Affinity = cmp.Or(spec.Affinity, &corev1.Affinity{})
	spec.Affinity.NodeAffinity = cmp.Or(spec.Affinity.NodeAffinity, &corev1.NodeAffinity{})
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
			},
		}},
	}
}

func (s *pass) available(p *corev1.Pod) bool {
	return s.plan.Available(p, s.set.Spec.MinReadySeconds, s.now)
}
