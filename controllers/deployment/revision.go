package deployment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// Annotations of ReplicaSets and deployments (K pkg/controller/deployment/util).
const (
	revisionKey = "deployment.kubernetes.io/revision"
	historyKey  = "deployment.kubernetes.io/revision-history"
	desiredKey  = "deployment.kubernetes.io/desired-replicas"
	maxKey      = "deployment.kubernetes.io/max-replicas"
	rollbackKey = "deprecated.deployment.rollback.to"
)

// mostHistory is the maximum length of the annotation with earlier revisions, in bytes.
const mostHistory = 2000

// own has the annotations that aren't copied to ReplicaSets.
var own = []string{corev1.LastAppliedConfigAnnotation, revisionKey, historyKey, desiredKey, maxKey, rollbackKey}

// revisionOf returns the revision of a ReplicaSet, 0 if it has none.
func revisionOf(rs *appsv1.ReplicaSet) int64 {
	n, err := strconv.ParseInt(rs.Annotations[revisionKey], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// next returns the revision after those of the old ReplicaSets.
func (s *state) next() int64 {
	var n int64
	for _, rs := range s.olds {
		n = max(n, revisionOf(rs))
	}
	return n + 1
}

// number sets the next revision of the newest ReplicaSet and copies the deployment's annotations to it; then it sets
// the deployment's revision (getNewReplicaSet).
func (s *state) number() {
	if s.newest == nil {
		return
	}
	e := s.edit(s.newest)
	changed := s.annotate(e.rs, true)
	if e.rs.Spec.MinReadySeconds != s.d.Spec.MinReadySeconds {
		e.rs.Spec.MinReadySeconds, changed = s.d.Spec.MinReadySeconds, true
	}
	if changed {
		return
	}
	s.setRevision(s.newest.Annotations[revisionKey])
	if s.deadline() && s.condition(appsv1.DeploymentProgressing) == nil {
		s.set(appsv1.DeploymentProgressing, corev1.ConditionTrue, "FoundNewReplicaSet",
			fmt.Sprintf("Found new replica set %q", s.newest.Name))
	}
}

func (s *state) setRevision(revision string) {
	if s.annotations[revisionKey] == revision {
		return
	}
	s.annotations = labels.Merge(s.annotations, map[string]string{revisionKey: revision})
}

// annotate sets the annotations of the newest ReplicaSet (SetNewReplicaSetAnnotations).
func (s *state) annotate(rs *appsv1.ReplicaSet, exists bool) (changed bool) {
	for k, v := range s.d.Annotations {
		if had, ok := rs.Annotations[k]; !slices.Contains(own, k) && (!ok || had != v) {
			metav1.SetMetaDataAnnotation(&rs.ObjectMeta, k, v)
			changed = true
		}
	}
	had, numbered := rs.Annotations[revisionKey]
	if next := s.next(); revisionOf(rs) < next {
		metav1.SetMetaDataAnnotation(&rs.ObjectMeta, revisionKey, strconv.FormatInt(next, 10))
		changed = true
		if numbered {
			rs.Annotations[historyKey] = remember(rs.Annotations[historyKey], had)
		}
	}
	if !exists && s.note(rs) {
		changed = true
	}
	return changed
}

// remember adds a revision to the earlier ones of a ReplicaSet; the oldest are dropped if there are too many.
func remember(history, revision string) string {
	var all []string
	if history != "" {
		all = strings.Split(history, ",")
	}
	all = append(all, revision)
	for len(all) > 1 && len(strings.Join(all, ",")) > mostHistory {
		all = all[1:]
	}
	return strings.Join(all, ",")
}

// note sets the annotation with the number of pods that the deployment wants, by which resized detects a change.
func (s *state) note(rs *appsv1.ReplicaSet) (changed bool) {
	for k, n := range map[string]int32{desiredKey: s.size, maxKey: s.size + s.surge} {
		if v := strconv.Itoa(int(n)); rs.Annotations[k] != v {
			metav1.SetMetaDataAnnotation(&rs.ObjectMeta, k, v)
			changed = true
		}
	}
	return changed
}

// create creates the newest ReplicaSet. The creation fails if its name is in use: see failed.
func (s *state) create() {
	rs := s.made()
	done := workload.Event{}
	if n := size(rs); n > 0 {
		done = scaled("up", rs.Name, 0, n)
	}
	s.do = append(s.do, workload.Create{Object: rs, Done: done,
		Failed: workload.Warning(
			createError, fmt.Sprintf("Failed to create new replica set %q: %s", rs.Name, workload.Problem),
		)})
	s.setRevision(rs.Annotations[revisionKey])
	if s.deadline() {
		s.set(appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetCreated",
			fmt.Sprintf("Created new replica set %q", rs.Name))
	}
}

// made returns a ReplicaSet for the template (I-06).
func (s *state) made() *appsv1.ReplicaSet {
	hash := workload.TemplateHash(&s.d.Spec.Template, s.d.Status.CollisionCount)
	template, selector := s.d.Spec.Template.DeepCopy(), s.d.Spec.Selector.DeepCopy()
	metav1.SetMetaDataLabel(&template.ObjectMeta, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	metav1.AddLabelToSelector(selector, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: named(s.d.Name, hash), Namespace: s.d.Namespace,
			Labels:          maps.Clone(template.Labels),
			OwnerReferences: []metav1.OwnerReference{workload.ControllerRef(s.d)}},
		Spec: appsv1.ReplicaSetSpec{MinReadySeconds: s.d.Spec.MinReadySeconds, Selector: selector, Template: *template},
	}
	rs.Spec.Replicas = new(s.space(0))
	s.annotate(rs, false)
	return rs
}

// named joins the names, truncated to a valid name.
func named(deployment, hash string) string {
	const longest = 253
	return deployment[:min(len(deployment), longest-len(hash)-1)] + "-" + hash
}

const createError = "ReplicaSetCreateError"

// failed handles a ReplicaSet that could not be created: because another has its name, which the next hash avoids, or
// for another reason. It reports whether that is so.
func (s *state) failed() bool {
	f := s.view.Failed
	if f == nil {
		return false
	}
	c, ok := f.Action.(workload.Create)
	switch {
	case !ok:
		s.count()
	case apierrors.IsAlreadyExists(f.Err):
		n := int32(1)
		if had := s.d.Status.CollisionCount; had != nil && *had < math.MaxInt32 {
			n = *had + 1
		}
		s.status.CollisionCount = &n
	case s.deadline():
		s.set(appsv1.DeploymentProgressing, corev1.ConditionFalse, createError,
			fmt.Sprintf("Failed to create new replica set %q: %v", c.Object.GetName(), f.Err))
	}
	return true
}
