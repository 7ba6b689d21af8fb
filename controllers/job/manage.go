package job

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// manage plans which pods to create and delete, so that the wanted number is active. Deletions come first; then nothing
// is created in the same pass (job_controller.go: manageJob).
func (p *pass) manage() {
	have := len(p.active)
	if p.suspended() {
		p.remove(p.surplus(have))
		return
	}
	want := p.wanted()
	if rm := p.surplus(max(0, have-want)); len(rm) > 0 {
		p.remove(rm[:min(len(rm), mostPods)])
		return
	}
	missing := want - have
	if patient(p.job) {
		missing -= int(count(p.pods, workload.Terminating))
	}
	if missing <= 0 {
		return
	}
	if indexed(p.job) {
		p.createIndexes(min(missing, mostPods))
		return
	}
	if at := p.plan.Backoff.until(); p.now.Before(at) {
		p.plan.Within(at.Sub(p.now))
		return
	}
	for range min(missing, mostPods) {
		p.plan.Create = append(p.plan.Create, newPod(p.job))
	}
}

// wanted returns the number of pods that should be active.
func (p *pass) wanted() int {
	parallelism := int(*p.job.Spec.Parallelism)
	switch {
	case p.job.Spec.Completions != nil:
		return max(0, min(parallelism, int(*p.job.Spec.Completions-p.succeeded)))
	case p.succeeded > 0:
		// The first success completes the Job: active pods continue, but no more are created.
		return len(p.active)
	}
	return parallelism
}

// remove plans to delete active pods, without counting them.
func (p *pass) remove(pods []*corev1.Pod) {
	p.plan.Release, p.plan.Remove = filter(pods, tracked), pods
}

// surplus returns at least n active pods to delete: first, if the Job is indexed, those without an index of the Job or
// with a duplicate one; then those with which the least work is lost (job_controller.go: activePodsForRemoval).
func (p *pass) surplus(n int) (rm []*corev1.Pod) {
	left := p.active
	if indexed(p.job) {
		rm, left = p.repeated()
	}
	left = slices.Clone(left)
	slices.SortFunc(left, dearest)
	return append(rm, left[:max(0, n-len(rm))]...)
}

// repeated splits the active pods of an indexed Job into unusable ones and the rest.
func (p *pass) repeated() (rm, left []*corev1.Pod) {
	groups := map[int][]*corev1.Pod{}
	for _, pod := range p.active {
		if !counted(p.job, pod) {
			rm = append(rm, pod)
		} else {
			groups[indexOf(pod)] = append(groups[indexOf(pod)], pod)
		}
	}
	for _, pod := range p.active {
		group := groups[indexOf(pod)]
		if len(group) == 0 || !counted(p.job, pod) {
			continue
		}
		delete(groups, indexOf(pod))
		slices.SortFunc(group, dearest)
		rm, left = append(rm, group[:len(group)-1]...), append(left, group[len(group)-1])
	}
	return rm, left
}

// createIndexes plans pods for the first n indexes without one. With a limit per index each has a back-off of its own
// (indexed_job_utils.go: firstPendingIndexes).
func (p *pass) createIndexes(n int) {
	if at := p.plan.Backoff.until(); p.job.Spec.BackoffLimitPerIndex == nil && p.now.Before(at) {
		p.plan.Within(at.Sub(p.now))
		return
	}
	busy := p.done.with(indexesOf(p.active)).with(p.lost)
	if patient(p.job) {
		busy = busy.with(indexesOf(filter(p.pods, workload.Terminating)))
	}
	for _, i := range busy.missing(n, int(*p.job.Spec.Completions)) {
		at := p.retry(i)
		if p.now.Before(at) {
			p.plan.Within(at.Sub(p.now))
		} else {
			p.plan.Create = append(p.plan.Create, newIndexedPod(p.job, i, p.held[i]))
		}
	}
}

// retry returns the time when a pod of the index may be created. A failure in the future, from before the clock was set
// back, causes no wait.
func (p *pass) retry(i int) time.Time {
	old := p.held[i]
	if old == nil {
		return time.Time{}
	}
	last := finished(old)
	if last.After(p.now) {
		return p.now
	}
	return last.Add(delays.After(attempts(old) + 1))
}
