package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/controllers/workload"
)

// The label of an APIService that the controller manages, and its values.
const (
	automanaged = "kube-aggregator.kubernetes.io/automanaged"
	onStart     = "onstart"
	always      = "true"
)

// apiServices keeps an APIService for each group version that the server itself serves, and the condition Available of
// every APIService (KA pkg/controllers/autoregister and pkg/controllers/status, K
// pkg/controlplane/controller/crdregistration; KA is k8s.io/kube-aggregator). The APIService of a built-in group
// version is created or updated once after each start: if a user deletes or changes it afterwards, that lasts until the
// next start. The APIService of a custom group version exists as long as any CRD serves the version. An APIService
// without the label is never changed, except for its status, nor deleted.
type apiServices struct {
	types *resources.Types
	// check returns the reason why the server of a group version does not respond; nil if it does.
	check func(ctx context.Context, group, version string) error

	// mu guards the fields below.
	mu sync.Mutex
	// stored has the APIServices that existed at the first pass; it is nil before. kept has those of built-in group
	// versions that a pass has found as wanted.
	stored, kept map[string]bool
}

// controller returns the controller for one run. The records of earlier runs stay.
func (a *apiServices) controller() workload.Controller {
	return workload.Controller{
		Name: "apiservice", For: workload.APIServices, Task: "update an APIService",
		Sees: []workload.Resource{workload.CustomResourceDefinitions, workload.Services, workload.EndpointSlices},
		Wake: a.concerned, Most: checkInterval, Awaits: "the next check of its server", Decide: a.decide,
		Start: func() (keys []workload.Key) {
			for _, name := range a.local() {
				keys = append(keys, workload.Key{Name: name})
			}
			return keys
		},
	}
}

// concerned returns the APIServices that a change affects: for a CRD those of its group, whose versions may have
// changed; for a service or an EndpointSlice those that name the service.
func (a *apiServices) concerned(r workload.Reader, c workload.Change) (keys []workload.Key) {
	m := cmp.Or(c.New, c.Old)
	service := m.Name
	switch c.Resource {
	case workload.CustomResourceDefinitions:
		_, group, _ := strings.Cut(m.Name, ".")
		names := a.local() // the table of types already has the CRD
		for _, s := range r.All(workload.APIServices, "") {
			names = append(names, s.GetName())
		}
		for _, name := range names {
			if strings.HasSuffix(name, "."+group) {
				keys = append(keys, workload.Key{Name: name})
			}
		}
		return keys
	case workload.EndpointSlices:
		service = m.Labels[discoveryv1.LabelServiceName]
	case workload.APIServices:
		return nil
	}
	return workload.KeysOf(workload.All[*apiregistrationv1.APIService](r, ""),
		func(s *apiregistrationv1.APIService) bool {
			ref := s.Spec.Service
			return ref != nil && ref.Namespace == m.Namespace && ref.Name == service
		})
}

// local returns the names of the APIServices of the group versions that the server serves.
func (a *apiServices) local() (names []string) {
	for _, g := range a.types.Groups() {
		for _, v := range g.Versions {
			if g.Name != apiregistrationv1.GroupName { // kube-aggregator serves APIServices
				names = append(names, v+"."+g.Name)
			}
		}
	}
	return names
}

// wanted returns the APIService of that name as it should be; nil if the server doesn't serve the group version.
func (a *apiServices) wanted(name string) *apiregistrationv1.APIService {
	if !slices.Contains(a.local(), name) {
		return nil
	}
	version, group, _ := strings.Cut(name, ".")
	gv := schema.GroupVersion{Group: group, Version: version}
	by := always
	if resources.Own(gv) {
		by = onStart
	}
	s := &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{automanaged: by}},
	}
	s.Spec.Group, s.Spec.Version = group, version
	s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority = resources.Priority(gv)
	return s
}

// past returns the records about an APIService. In the first pass it records which APIServices exist.
func (a *apiServices) past(v workload.View) past {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stored == nil {
		a.stored, a.kept = map[string]bool{}, map[string]bool{}
		for _, s := range v.All(workload.APIServices, "") {
			a.stored[s.GetName()] = true
		}
	}
	return past{stored: a.stored[v.Key.Name], kept: a.kept[v.Key.Name]}
}

// decide plans the changes that one APIService needs now.
func (a *apiServices) decide(v workload.View, now time.Time) (plan workload.Plan) {
	have, _ := v.Object.(*apiregistrationv1.APIService)
	if err := v.Err(workload.APIServices, "", v.Key.Name); have == nil && err != nil {
		return workload.Plan{Err: err}
	}
	want := a.wanted(v.Key.Name)
	switch moveOf(have, want, a.past(v)) {
	case create:
		plan.Do = []workload.Action{workload.Create{Object: want}}
		return plan
	case update:
		next := have.DeepCopy()
		next.Spec = want.Spec
		plan.Do = []workload.Action{workload.Update{Object: next}}
		return plan
	case remove:
		plan.Do = []workload.Action{workload.Delete{Object: have}}
		return plan
	}
	if managed(want) == onStart {
		a.mu.Lock()
		a.kept[v.Key.Name] = true
		a.mu.Unlock()
	}
	if have == nil {
		return plan
	}
	c := available(v, have)
	if c.Reason != passed {
		plan.Status = withCondition(have, c, now)
		return plan
	}
	plan.Slow = func(ctx context.Context) workload.Plan {
		if err := a.check(ctx, have.Spec.Group, have.Spec.Version); err != nil {
			c.Status, c.Reason, c.Message = apiregistrationv1.ConditionFalse, "FailedDiscoveryCheck", err.Error()
		}
		return workload.Plan{Status: withCondition(have, c, now), Again: nextCheck(have, c, now)}
	}
	return plan
}

// checkInterval is the interval of the checks of a server (KA remote_available_controller.go: New).
const checkInterval = 30 * time.Second

// nextCheck returns the time until the next check of a server. After a failure it is the time for which the server has
// not responded, so that the pauses double.
func nextCheck(
	have *apiregistrationv1.APIService, c apiregistrationv1.APIServiceCondition, now time.Time,
) time.Duration {
	if c.Status == apiregistrationv1.ConditionTrue {
		return checkInterval
	}
	var since time.Duration
	if old := helper.GetAPIServiceConditionByType(have, c.Type); old != nil && old.Reason == c.Reason {
		since = now.Sub(old.LastTransitionTime.Time)
	}
	return min(max(since, time.Second), checkInterval)
}

// withCondition returns an APIService with the condition in its status; nil if it has that already.
func withCondition(
	have *apiregistrationv1.APIService, c apiregistrationv1.APIServiceCondition, now time.Time,
) workload.Object {
	next := have.DeepCopy()
	c.LastTransitionTime = metav1.NewTime(now)
	helper.SetAPIServiceCondition(next, c)
	if equality.Semantic.DeepEqual(have.Status, next.Status) {
		return nil
	}
	return next
}

// The changes of an APIService.
const leave, create, update, remove = "leave", "create", "update", "delete"

// past records whether an APIService existed when the controller started (stored), and whether it was as wanted in a
// pass since then (kept).
type past struct{ stored, kept bool }

// moveOf decides how to change an APIService (KA autoregister_controller.go:checkAPIService, whose table this is).
// Either may be nil.
func moveOf(have, want *apiregistrationv1.APIService, p past) string {
	switch {
	case have == nil && want == nil, managed(want) == onStart && p.kept:
		return leave
	case have == nil:
		return create
	case managed(have) == "":
		return leave
	case managed(have) == onStart && (!p.stored || p.kept):
		return leave
	case want == nil:
		return remove
	case equality.Semantic.DeepEqual(have.Spec, want.Spec):
		return leave
	}
	return update
}

// managed returns the value of the label: onStart, always, or empty for an APIService of a user.
func managed(s *apiregistrationv1.APIService) string {
	if s == nil {
		return ""
	}
	if by := s.Labels[automanaged]; by == onStart || by == always {
		return by
	}
	return ""
}

// passed is the condition's reason for a server that responds.
const passed = "Passed"

// available returns the condition of an APIService, without a time. A local group version is available. For a service
// it makes all of upstream's checks except the last, the request (KA pkg/controllers/status/remote: sync).
func available(r workload.Reader, s *apiregistrationv1.APIService) apiregistrationv1.APIServiceCondition {
	c := apiregistrationv1.APIServiceCondition{Type: apiregistrationv1.Available,
		Status: apiregistrationv1.ConditionTrue,
		Reason: "Local", Message: "Local APIServices are always available"}
	if ref := s.Spec.Service; ref != nil {
		c.Reason, c.Message = passed, "all checks passed"
		if reason, message := missing(r, ref); reason != "" {
			c.Status, c.Reason, c.Message = apiregistrationv1.ConditionFalse, reason, message
		}
	}
	return c
}

// missing returns the reason and the message for the part that a service lacks; an empty reason means none.
func missing(r workload.Reader, ref *apiregistrationv1.ServiceReference) (reason, message string) {
	name := fmt.Sprintf("service/%s in %q", ref.Name, ref.Namespace)
	svc := workload.Get[*corev1.Service](r, ref.Namespace, ref.Name)
	if svc == nil {
		return "ServiceNotFound", name + " is not present"
	}
	if svc.Spec.Type != corev1.ServiceTypeClusterIP {
		return "", ""
	}
	port := ptr.Deref(ref.Port, 443)
	i := slices.IndexFunc(svc.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == port })
	if i < 0 {
		return "ServicePortError", fmt.Sprintf("%s is not listening on port %d", name, port)
	}
	found, ready := endpoints(r, ref, svc.Spec.Ports[i].Name)
	switch {
	case found == 0:
		return "EndpointsNotFound", "cannot find endpointslices for " + name
	case !ready:
		return "MissingEndpoints", fmt.Sprintf(
			"endpointslices for %s have no addresses with port name %q", name, svc.Spec.Ports[i].Name,
		)
	}
	return "", ""
}

// endpoints counts a service's slices; ready reports whether one of them has an address with the port.
func endpoints(r workload.Reader, ref *apiregistrationv1.ServiceReference, port string) (n int, ready bool) {
	for _, e := range workload.All[*discoveryv1.EndpointSlice](r, ref.Namespace) {
		if e.Labels[discoveryv1.LabelServiceName] == ref.Name {
			n++
			ready = ready || answers(e, port)
		}
	}
	return n, ready
}

func answers(e *discoveryv1.EndpointSlice, port string) bool {
	return slices.ContainsFunc(e.Endpoints, func(e discoveryv1.Endpoint) bool {
		return e.Conditions.Ready == nil || *e.Conditions.Ready
	}) &&
		slices.ContainsFunc(e.Ports, func(p discoveryv1.EndpointPort) bool {
			return p.Name != nil && *p.Name == port && p.Port != nil
		})
}
