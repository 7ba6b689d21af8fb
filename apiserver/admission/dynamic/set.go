package dynamic

import (
	"sync"
	"sync/atomic"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/resources/admissionregistration"
)

// group is the API group of all configurations.
const group = admissionv1.GroupName

// slot is the index of a plugin.
type slot int

// The plugins.
const (
	mutatingHooks slot = iota
	validatingHooks
	mutatingPolicy
	validatingPolicy
	slots
)

// source describes the configurations of one kind.
type source struct {
	plural string
	of     slot
	// read converts an object to the value that add adds to a Set. The value may refer to the object.
	read func(runtime.Object) (any, error)
	add  func(s *Set, value any)
}

// sources are the kinds of configurations. Objects of a kind are added in the order of their names (L-50, O-03).
var sources = []source{
	{
		plural: "mutatingwebhookconfigurations", of: mutatingHooks,
		read: func(obj runtime.Object) (any, error) {
			c := obj.(*admissionv1.MutatingWebhookConfiguration)
			return webhook.Of(c.Name, true, c.Webhooks), nil
		},
		add: func(s *Set, value any) { s.mutating = append(s.mutating, value.([]*webhook.Configured)...) },
	},
	{
		plural: "validatingwebhookconfigurations", of: validatingHooks,
		read: func(obj runtime.Object) (any, error) {
			c := obj.(*admissionv1.ValidatingWebhookConfiguration)
			return webhook.Of(c.Name, false, admissionregistration.ValidatingHooks(c)), nil
		},
		add: func(s *Set, value any) { s.validating = append(s.validating, value.([]*webhook.Configured)...) },
	},
	{
		plural: "mutatingadmissionpolicies", of: mutatingPolicy, read: readMutatingPolicy,
		add: func(s *Set, value any) { s.mutatingPolicies.add(value.(*policy)) },
	},
	{
		plural: "mutatingadmissionpolicybindings", of: mutatingPolicy, read: readMutatingBinding,
		add: func(s *Set, value any) { s.mutatingPolicies.bind(value.(*binding)) },
	},
	{
		plural: "validatingadmissionpolicies", of: validatingPolicy, read: readValidatingPolicy,
		add: func(s *Set, value any) { s.validatingPolicies.add(value.(*policy)) },
	},
	{
		plural: "validatingadmissionpolicybindings", of: validatingPolicy, read: readValidatingBinding,
		add: func(s *Set, value any) { s.validatingPolicies.bind(value.(*binding)) },
	},
}

// Set has all configurations at one revision. It is immutable, and may be used by any goroutine.
type Set struct {
	types *resources.Types
	// unread reports, for each plugin, whether one of its configurations can't be read.
	unread [slots]bool

	// mutating and validating are all webhooks of a type, in the order in which they are called.
	mutating, validating []*webhook.Configured

	mutatingPolicies, validatingPolicies policies
	// plans are the plans for one generation of the table of types.
	plans atomic.Pointer[plans]
}

// plans caches plans by form. There are at most as many as combinations of resource, subresource and operation.
type plans struct {
	generation uint64
	made       sync.Map // of form to *plan
}

// form has the properties of a request that rules match.
type form struct {
	res        *resources.Resource
	sub        string
	operation  admission.Operation
	namespaced bool
}

// plan has the webhooks and policies whose rules match a form, each with the resource to whose version the objects are
// converted for it.
type plan struct {
	mutating, validating map[*webhook.Configured]*resources.Resource

	mutatingPolicies, validatingPolicies []candidate
}

// Concerns reports whether a webhook or policy may apply to requests of a form, regardless of its selectors.
func (s *Set) Concerns(res *resources.Resource, sub string, operation admission.Operation, namespaced bool) bool {
	if s == nil || s.unread != [slots]bool{} {
		return s != nil
	}
	p := s.plan(form{res.Listed(), sub, operation, namespaced})
	return len(p.mutating)+len(p.validating)+len(p.mutatingPolicies)+len(p.validatingPolicies) > 0
}

// plan returns the plan of a form.
func (s *Set) plan(f form) *plan {
	generation := s.types.Generation()
	all := s.plans.Load()
	if all == nil || all.generation != generation {
		all = &plans{generation: generation}
		s.plans.Store(all)
	}
	if made, ok := all.made.Load(f); ok {
		return made.(*plan)
	}
	p := s.newPlan(f)
	all.made.Store(f, p)
	return p
}

func (s *Set) newPlan(f form) *plan {
	t := webhook.Target{
		Resource: resourceOf(f.res), Subresource: f.sub, Operation: admissionv1.OperationType(f.operation),
	}
	if f.namespaced {
		t.Namespace = "any" // for rules it matters only whether there is a namespace
	}
	p, of := &plan{}, &target{t, f.res, s.equivalents(f.res, f.sub)}
	if !exemptFromWebhooks(t.Resource) {
		p.mutating, p.validating = matchHooks(s.mutating, of), matchHooks(s.validating, of)
	}
	if exemptFromPolicies(t.Resource.GroupResource()) {
		return p
	}
	p.validatingPolicies = s.validatingPolicies.candidates(of)
	if f.operation != admission.Delete { // a deleted object can't be changed (M-20)
		p.mutatingPolicies = s.mutatingPolicies.candidates(of)
	}
	return p
}

// matchHooks returns the webhooks whose rules match, each with the resource to whose version the objects are converted
// for it.
func matchHooks(all []*webhook.Configured, t *target) map[*webhook.Configured]*resources.Resource {
	out := map[*webhook.Configured]*resources.Resource{}
	for _, h := range all {
		if rules := t.matched(h.Rules, h.Equivalent); len(rules) > 0 {
			out[h] = rules[0].in
		}
	}
	return out
}

// equivalents returns the other served resources that have the same objects and the subresource (L-34), in the order of
// discovery. Upstream uses the order of installation, which is the same for built-in kinds.
func (s *Set) equivalents(res *resources.Resource, sub string) (out []*resources.Resource) {
	if res.Collection == "" {
		return nil
	}
	for _, r := range s.types.All() {
		if r != res && r.Collection == res.Collection && (sub == "" || r.Subresource(sub) != nil) {
			out = append(out, r)
		}
	}
	return out
}

func resourceOf(r *resources.Resource) schema.GroupVersionResource {
	return r.GroupVersion().WithResource(r.Plural)
}
