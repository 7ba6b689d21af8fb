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

// Registry reads and writes objects. It does not depend on HTTP. Its methods may be called from any goroutine.
type Registry struct {
	Data
	Users
	InProcess
	Admission admission.Steps
	// Dynamic has the plugins for webhooks and policies. It is nil if there are none.
	Dynamic admission.Dynamic
	// Trail records each removal.
	Trail *trail.Trail
	Log   *slog.Logger
	Now   func() time.Time
	// Ranges are the service IP range of a cluster without ServiceCIDRs, and the range of node ports.
	Ranges allocate.Ranges
	// EventTTL is the time after which an Event expires.
	EventTTL time.Duration
	// Corrupt counts reads of stored values that can't be decoded. Complaint limits the rate of their log messages.
	Corrupt   prometheus.Counter
	Complaint rate.Sometimes
	Fields    *fieldmanager.Managers
	// Turn is a semaphore of size one. If a hook acquires it for a write, the write holds it until it has ended
	// (entry.Write).
	Turn chan struct{}
	// ListAll lists all objects that can be decoded.
	ListAll lister
}

// Data are the objects and their types.
type Data struct {
	Store   storage.Store
	Cache   *cache.Cache
	Decoder *storage.Decoder
	Root    string
	Types   *resources.Types
}

// Users authenticates and authorizes users.
type Users struct {
	// Authorizer authorizes requests.
	Authorizer authorization.Authorizer
	// Authenticate returns the user of a bearer token, and the audiences, out of the given ones, for which the token is
	// valid. If audiences is empty, it uses the server's.
	Authenticate func(ctx context.Context, token string, audiences []string) (authorization.User, []string, error)
	// Tokens signs service account tokens. It is nil if there is no signing key.
	Tokens entry.Tokens
}

// InProcess configures the requests of the in-process client.
type InProcess struct {
	// Audit records the requests. If it is nil, they are not recorded. Agent is the beginning of their User-Agent.
	Audit *audit.Log
	Agent string
	// Timeout is the timeout of each request.
	Timeout time.Duration
	// Observe is called after each request.
	Observe func(Observed)
	// Inject returns the errors with which an injected fault lets a request fail before or after its execution.
	Inject func(ctx context.Context, r *Request, name, verb, manager string) (before, after error)
}

// Observed is a completed request of the in-process client.
type Observed struct {
	Target
	Verb string
	// Code is the HTTP status code of the response.
	Code int
	Took time.Duration
	// Panicked reports whether the request panicked.
	Panicked bool
}

// lister returns one page of a collection.
type lister func(context.Context, Target, *metainternal.ListOptions) ([]*storage.Object, metav1.ListMeta, error)
