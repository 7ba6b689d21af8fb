package deployment

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// resized reports whether the deployment's size has changed since its ReplicaSets were last scaled (isScalingEvent).
func (s *state) resized() bool {
	return slices.ContainsFunc(active(s.all), func(rs *appsv1.ReplicaSet) bool {
		n, ok := noted(rs, desiredKey)
		return ok && n != s.size
	})
}

// noted returns the number in an annotation; false if there is none.
func noted(rs *appsv1.ReplicaSet, key string) (int32, bool) {
	n, err := strconv.ParseInt(rs.Annotations[key], 10, 32)
	return int32(n), err == nil
}

// adjust changes sizes without a rollout (sync).
func (s *state) adjust() {
	s.number()
	s.scale()
	if s.d.Spec.Paused {
		s.forget()
	}
	s.count()
}

// scale scales the ReplicaSets to the deployment's total size.
func (s *state) scale() {
	wanting := active(s.all)
	switch {
	case len(wanting) <= 1:
		if one := s.only(wanting); one != nil {
			s.resize(one, s.size)
		}
	case s.saturated():
		for _, rs := range active(s.olds) {
			s.resize(rs, 0)
		}
	case s.d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType:
		s.proportion(wanting)
	}
}

// only returns the ReplicaSet that gets all pods, unless two or more have pods (FindActiveOrLatest).
func (s *state) only(wanting []*appsv1.ReplicaSet) *appsv1.ReplicaSet {
	switch {
	case len(wanting) == 1:
		return wanting[0]
	case s.newest != nil:
		return s.newest
	case len(s.olds) > 0:
		return s.olds[len(s.olds)-1]
	}
	return nil
}

// saturated reports whether the newest ReplicaSet has all pods that the deployment wants (IsSaturated).
func (s *state) saturated() bool {
	if s.newest == nil {
		return false
	}
	n, ok := noted(s.newest, desiredKey)
	return ok && n == s.size && size(s.newest) == s.size && available(s.newest) == s.size
}

// proportion distributes the difference among ReplicaSets in proportion to their sizes; the remainder goes to the
// first, which is the largest.
func (s *state) proportion(wanting []*appsv1.ReplicaSet) {
	allowed := int32(0)
	if s.size > 0 {
		allowed = s.size + s.surge
	}
	add := allowed - sum(wanting, size)
	newer := 1
	if add > 0 {
		newer = -1
	}
	slices.SortStableFunc(wanting, func(a, b *appsv1.ReplicaSet) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), newer*older(a, b))
	})
	sizes, added := make([]int32, len(wanting)), int32(0)
	for i, rs := range wanting {
		part := s.part(rs, add, added)
		sizes[i], added = size(rs)+part, added+part
	}
	for i, rs := range wanting {
		if i == 0 {
			sizes[i] = max(0, sizes[i]+add-added)
		}
		if !s.resize(rs, sizes[i]) {
			s.note(s.edit(rs).rs)
		}
	}
}

// part returns the share of one ReplicaSet in the difference (GetReplicaSetProportion, getReplicaSetFraction).
func (s *state) part(rs *appsv1.ReplicaSet, add, added int32) int32 {
	if add == added {
		return 0
	}
	fraction := -size(rs)
	if s.size > 0 {
		before, ok := noted(rs, maxKey)
		if !ok || before == 0 {
			before = s.d.Status.Replicas
		}
		if before == 0 {
			return 0
		}
		fraction = int32(math.Round(float64(size(rs))*float64(s.size+s.surge)/float64(before))) - size(rs)
	}
	if add > 0 {
		return min(fraction, add-added)
	}
	return max(fraction, add-added)
}
