package registry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/apply"
	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/rbac/live"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
	"github.com/kubecascade/kubecascade/storage/past"
)

// Registry is the one write pipeline, and what it reads. It knows no HTTP. Its methods may be called from any
// goroutine.
type Registry struct {
	Store storage.Store
	Cache *cache.Cache
	// Past reads the revisions that the cache's history doesn't reach back to.
	Past      *past.Reader
	Decoder   *storage.Decoder
	Root      string
	Types     *resources.Types
	Admission admission.Chain
	Log       *slog.Logger
	Now       func() time.Time
	// Ranges are the addresses and ports that the cluster has to give.
	Ranges allocate.Ranges
	// EventTTL is how long an event is kept, Timeout how long a request of the process's own may take.
	EventTTL, Timeout time.Duration
	// Corrupt counts stored values that can't be read; Complaint bounds how often the log reports them.
	Corrupt   prometheus.Counter
	Complaint rate.Sometimes
	// inert are the kinds, by schema.GroupResource, that the log has reported as stored without effect.
	inert  sync.Map
	Fields *apply.Managers
	// Vouchers know the last writes.
	Vouchers Vouchers
	// Turn is held, by being filled, by the one write whose hook has the turn (hooks.Write).
	Turn chan struct{}
	// ListAll is a lister of all objects, but those that can't be read.
	ListAll lister
	// Observe is called for each request that the process has made itself, with its error; panicked says that it did.
	Observe func(t Target, verb string, err error, took time.Duration, panicked bool)
	// Authorizer authorizes requests; Roles is its mode RBAC, nil without.
	Authorizer auth.Authorizer
	Roles      *live.Authorizer
	// Authenticate returns the user of a bearer token, and for which of the audiences it is valid; no audiences are
	// those of the server.
	Authenticate func(ctx context.Context, token string, audiences []string) (auth.User, []string, error)
	// Accounts signs the tokens of service accounts; nil without a key.
	Accounts *auth.Accounts
}

// lister returns a page of a collection.
type lister func(context.Context, Target, *metainternal.ListOptions) ([]*storage.Object, metav1.ListMeta, error)
