package dynamic

import (
	"log/slog"

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
	// Authorizer returns the authorizer of expressions.
	Authorizer func() authorization.Authorizer
	// Clients call webhooks.
	Clients *client.Clients
	// Metrics default to ones that are not registered.
	Metrics *Metrics
	Log     *slog.Logger
}

// Admission has the plugins. Its methods may be called from any goroutine.
type Admission struct {
	Live *Live
	Config
	caller *webhook.Caller
	log    *slog.Logger
}

// New returns the plugins.
func New(c Config) *Admission {
	if c.Metrics == nil {
		c.Metrics = NewMetrics(nil)
	}
	return &Admission{
		Config: c, Live: NewLive(c.Cache, c.Types, c.Log), log: c.Log,
		caller: &webhook.Caller{Clients: c.Clients, Observe: c.Metrics.asked},
	}
}

// Plugins returns the plugins in their order (L-01).
func (d *Admission) Plugins() []admission.Choice {
	return []admission.Choice{
		{Plugin: mutatingWebhooks{d}, Default: true},
		{Plugin: validatingWebhooks{d}, Default: true},
	}
}

// Concerns reports whether a webhook or policy may concern an operation on a resource or subresource. A write that
// none concerns may be stored without admission if no other plugin acts on it.
func (d *Admission) Concerns(res *resources.Resource, sub string, operation admission.Operation, namespaced bool) bool {
	return d.Live.Set().Concerns(res, sub, operation, namespaced)
}
