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
	"github.com/kubecascade/kubecascade/storage"
)

// Config is what an API is made of. All fields are needed.
type Config struct {
	Registry *registry.Registry
	// Memory is what requests may hold.
	Memory  *flowcontrol.Budget
	Metrics *metrics.Metrics
	// MinWatch is the least duration of a watch for which the client names none; negative ends it at once.
	MinWatch time.Duration
	// WriteTimeout is how long a client may leave a message of a WebSocket unread.
	WriteTimeout time.Duration
	// DeleteMalformed is the feature gate AllowUnsafeMalformedObjectDeletion.
	DeleteMalformed bool
	// CompressWatchLists is the feature gate WatchListCompression.
	CompressWatchLists bool
	// Proxy forwards connections; Kubelets is where kubelets are.
	Proxy    *proxy.Proxy
	Kubelets resources.Kubelets
	Log      *slog.Logger
	Now      func() time.Time
}

// API serves the verbs. Its methods may be called from any goroutine.
type API struct {
	Config
	// pastReads are the pages of old states that may be read at a time.
	pastReads *semaphore.Weighted
	watches   watches
}

// watches are the watches that are open.
type watches struct {
	// closing is closed when the server shuts down: watches end.
	closing chan struct{}
	close   func()
	// sockets is held for reading by each watch over a WebSocket, as net/http does not know these connections any more
	// and waits for none of them.
	sockets sync.RWMutex
}

// New returns an API.
func New(c Config) *API {
	closing := make(chan struct{})
	return &API{Config: c, pastReads: semaphore.NewWeighted(pastReads),
		watches: watches{closing: closing, close: sync.OnceFunc(func() { close(closing) })}}
}

// Closing is closed when watches end.
func (a *API) Closing() <-chan struct{} { return a.watches.closing }

// CloseWatches ends every watch, so that a graceful shutdown has nothing to wait for but requests that end by
// themselves. It returns when those over WebSockets have told their clients.
func (a *API) CloseWatches() {
	a.watches.close()
	a.watches.sockets.Lock()
	//lint:ignore SA2001 it only waits
	a.watches.sockets.Unlock()
}

// ListAll lists objects that are shown to no client. It is registry.Registry's hook.
func (a *API) ListAll(
	ctx context.Context, target registry.Target, opts *metainternal.ListOptions,
) ([]*storage.Object, metav1.ListMeta, error) {
	form := render.Format{Media: codec.MediaJSON, As: "PartialObjectMetadataList"}
	return a.list(ctx, target, opts, &render.Rendering{Resource: target.Resource, Format: form,
		Skip: func(obj *storage.Object, err error) { a.Registry.Unreadable(obj.Key, err, omitted) },
	}, unreserved)
}

// Observe counts a request that the process has made itself. It is registry.Registry's hook.
func (a *API) Observe(r registry.Observed) {
	if r.Panicked {
		a.Metrics.Panics.Inc()
	}
	a.Metrics.Answered(labelOf(r.Target, r.Verb), r.Code, 0, r.Took)
}
