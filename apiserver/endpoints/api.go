package endpoints

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/metrics"
	"github.com/kubecascade/kubecascade/apiserver/proxy"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/faults"
	"github.com/kubecascade/kubecascade/storage"
)

// Config has the parts of an API. All fields are required.
type Config struct {
	Registry *registry.Registry
	// Memory is the budget of the memory that requests may hold.
	Memory  *flowcontrol.Budget
	Metrics *metrics.Metrics
	// MinWatch is the minimum duration of a watch without timeoutSeconds. If it is negative, such a watch ends at once.
	MinWatch time.Duration
	// WriteTimeout is the time for which a client may leave a message of a WebSocket unread.
	WriteTimeout time.Duration
	// DeleteMalformed is the feature gate AllowUnsafeMalformedObjectDeletion.
	DeleteMalformed bool
	// CompressWatchLists is the feature gate WatchListCompression.
	CompressWatchLists bool
	// Proxy forwards connections. Kubelets has the addresses and the port of kubelets.
	Proxy    *proxy.Proxy
	Kubelets resources.Kubelets
	// Faults has the plans of faults to inject.
	Faults *faults.Set
	Log    *slog.Logger
	Now    func() time.Time
}

// API serves the verbs. Its methods may be called from any goroutine.
type API struct {
	Config
	// pastReads limits how many pages of old states are read at the same time.
	pastReads *semaphore.Weighted
	watches   watches
}

// watches has the state that all open watches share.
type watches struct {
	// closing is closed when the server shuts down. Then watches end.
	closing chan struct{}
	close   func()
	// Each watch over a WebSocket holds the read lock of sockets, so that CloseWatches can wait for them. net/http does
	// not wait, because it no longer tracks their connections.
	sockets sync.RWMutex
}

// New returns an API.
func New(c Config) *API {
	closing := make(chan struct{})
	return &API{Config: c, pastReads: semaphore.NewWeighted(pastReads),
		watches: watches{closing: closing, close: sync.OnceFunc(func() { close(closing) })}}
}

// Closing returns the channel that is closed when watches must end.
func (a *API) Closing() <-chan struct{} { return a.watches.closing }

// CloseWatches ends all watches. After that, a graceful shutdown waits only for requests that end by themselves. It
// returns when the watches over WebSockets have sent their close frames.
func (a *API) CloseWatches() {
	a.watches.close()
	a.watches.sockets.Lock()
	//lint:ignore SA2001 it only waits
	a.watches.sockets.Unlock()
}

// ListAll lists objects for the server itself. It is the hook registry.Registry.ListAll.
func (a *API) ListAll(
	ctx context.Context, target registry.Target, opts *metainternal.ListOptions,
) ([]*storage.Object, metav1.ListMeta, error) {
	form := render.Format{Media: codec.MediaJSON, As: "PartialObjectMetadataList"}
	return a.list(ctx, target, opts, &render.Rendering{Resource: target.Resource, Format: form,
		Skip: func(obj *storage.Object, err error) { a.Registry.Unreadable(obj.Key, err, omitted) },
	}, unreserved)
}

// Observe counts a request of the in-process client. It is the hook registry.InProcess.Observe.
func (a *API) Observe(r registry.Observed) {
	if r.Panicked {
		a.Metrics.Panics.Inc()
	}
	a.Metrics.Answered(labelOf(r.Target, r.Verb), r.Code, 0, r.Took)
}
