package registry

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/allocate"
	"github.com/kubecascade/kubecascade/apiserver/audit"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/fieldmanager"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Registry is the write pipeline and its reads. It does not depend on HTTP. Its methods may be called from any
// goroutine.
type Registry struct {
	Data
	Users
	InProcess
	Admission admission.Steps
	// Dynamic are the plugins for webhooks and policies; nil if there are none.
	Dynamic admission.Dynamic
	// Trail records each removal.
	Trail *trail.Trail
	Log   *slog.Logger
	Now   func() time.Time
	// Ranges are the service IP range of a cluster without ServiceCIDRs, and the node ports.
	Ranges allocate.Ranges
	// EventTTL is how long an event is kept.
	EventTTL time.Duration
	// Corrupt counts reads of stored values that can't be decoded; Complaint limits the rate of their log messages.
	Corrupt   prometheus.Counter
	Complaint rate.Sometimes
	Fields    *fieldmanager.Managers
	// Turn is a semaphore of one: the write whose hook has the turn (hooks.Write) has filled it.
	Turn chan struct{}
	// ListAll lists all objects that can be decoded.
	ListAll lister
}

// Data are the objects, and the types that they have.
type Data struct {
	Store   storage.Store
	Cache   *cache.Cache
	Decoder *storage.Decoder
	Root    string
	Types   *resources.Types
}

// Users are who may do what.
type Users struct {
	// Authorizer authorizes requests.
	Authorizer authorization.Authorizer
	// Authenticate returns the user of a bearer token, and for which of the audiences it is valid. Without audiences
	// those of the server are used.
	Authenticate func(ctx context.Context, token string, audiences []string) (authorization.User, []string, error)
	// Tokens signs the tokens of service accounts; nil if there is no signing key.
	Tokens entry.Tokens
}

// InProcess is for the requests of the in-process client.
type InProcess struct {
	// Audit records them; nil records none. Agent is the begin of their User-Agent.
	Audit *audit.Log
	Agent string
	// Timeout is the deadline of each.
	Timeout time.Duration
	// Observe is called after each.
	Observe func(Observed)
}

// Observed is a request of the in-process client that has ended.
type Observed struct {
	Target
	Verb string
	// Code is that of the answer over HTTP.
	Code int
	Took time.Duration
	// Panicked reports whether the request panicked.
	Panicked bool
}

// lister returns a page of a collection.
type lister func(context.Context, Target, *metainternal.ListOptions) ([]*storage.Object, metav1.ListMeta, error)
