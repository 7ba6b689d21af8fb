package dynamic

import (
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	client "github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Config is the configuration of New.
type Config struct {
	Cache *cache.Cache
	// Types must have the built-in kinds.
	Types  *resources.Types
	Lookup admission.Lookup
	// Objects reads params and namespaces.
	Objects Objects
	// Converter returns the type converter with which a MutatingAdmissionPolicy merges objects of a resource.
	Converter func(*resources.Resource) (managedfields.TypeConverter, error)
	// Authorizer returns the authorizer that expressions use.
	Authorizer func() authorization.Authorizer
	// Clients call webhooks.
	Clients *client.Clients
	// Registry registers the metrics. It may be nil.
	Registry prometheus.Registerer
	Log      *slog.Logger
}

// Admission has the plugins. Its methods may be called from any goroutine.
type Admission struct {
	Live *Live
	Config
	caller *webhook.Caller
	log    *slog.Logger
	// Metrics are those of webhooks and of the steps of admission. checks are those of policies.
	Metrics *Metrics
	checks  *policyMetrics
	// namespaces and params cache objects that were decoded for expressions.
	namespaces, params memory
}

// New returns the plugins.
func New(c Config) *Admission {
	d := &Admission{
		Config: c, Live: NewLive(c.Cache, c.Types, c.Log), log: c.Log, Metrics: NewMetrics(c.Registry),
		checks: newPolicyMetrics(c.Registry),
	}
	d.caller = &webhook.Caller{Clients: c.Clients, Observe: d.Metrics.called}
	d.Live.forget = d.forget
	return d
}

// Plugins returns the plugins in their order (L-01).
func (d *Admission) Plugins() []admission.Choice {
	all, noDelete := operations[:], []admission.Operation{admission.Create, admission.Update, admission.Connect}
	return []admission.Choice{
		{Name: "MutatingAdmissionPolicy", On: noDelete, Default: true, Plugin: mutatingPolicies{d}},
		{Name: "MutatingAdmissionWebhook", On: all, Default: true, Plugin: mutatingWebhooks{d}},
		{Name: "ValidatingAdmissionPolicy", On: all, Default: true, Plugin: validatingPolicies{d}},
		{Name: "ValidatingAdmissionWebhook", On: all, Default: true, Plugin: validatingWebhooks{d}},
	}
}

// forget removes the metric series of a deleted configuration, or of the webhooks that a configuration has lost. If
// another one gets the same name, its series start at zero.
func (d *Admission) forget(value any) {
	switch v := value.(type) {
	case *policy:
		d.checks.forget("policy", v.name)
		d.Metrics.forget(kindPolicy, v.name)
	case *binding:
		d.checks.forget("policy_binding", v.name)
	case []*webhook.Configured:
		for _, h := range v {
			d.Metrics.forget(kindWebhook, h.Name)
		}
	}
}

// errNotReady has upstream's message (AS pkg/admission/plugin/webhook/generic/webhook.go and policy/generic/plugin.go:
// Dispatch, while the configurations have not been read).
var errNotReady = errors.New("not yet ready to handle request")

// set returns the configurations for a request, or nil if there are none for the plugin of the slot. If one of the
// plugin's configurations can't be read, its failure policy is unknown, so the plugin rejects every request that it
// does not exempt. Upstream's plugins do the same after a start, because an informer can't list objects if one can't be
// decoded (AS pkg/storage/etcd3/store.go: GetList). An informer that has already listed them keeps the old objects.
func (d *Admission) set(a *admission.Attributes, of slot) (*Set, error) {
	set := a.State(func() any { return d.Live.Set() }).(*Set)
	if set == nil || !set.unread[of] {
		return set, nil
	}
	switch res := a.Resource; of {
	case mutatingHooks, validatingHooks:
		if exemptFromWebhooks(resourceOf(res)) {
			return nil, nil
		}
	default:
		if exemptFromPolicies(res.GroupResource()) || of == mutatingPolicy && a.Operation == admission.Delete {
			return nil, nil
		}
	}
	return nil, admission.Forbidden(a, errNotReady)
}

// Concerns implements admission.Dynamic.
func (d *Admission) Concerns(res *resources.Resource, sub string, operation admission.Operation, namespaced bool) bool {
	return d.Live.Set().Concerns(res, sub, operation, namespaced)
}
