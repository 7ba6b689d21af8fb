package apiserver

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

// registry is the one write pipeline, and what it reads. It knows no HTTP. Its methods may be called from any
// goroutine.
type registry struct {
	store storage.Store
	cache *cache.Cache
	// past reads the revisions that the cache's history doesn't reach back to.
	past      *past.Reader
	decoder   *storage.Decoder
	root      string
	types     *resources.Types
	admission admission.Chain
	log       *slog.Logger
	now       func() time.Time
	// services is what services are given addresses and node ports of.
	services allocate.Ranges
	// eventTTL is how long an event is kept, timeout how long a request of the process's own may take.
	eventTTL, timeout time.Duration
	// corrupt counts stored values that can't be read; complaint bounds how often the log is told of them.
	corrupt   prometheus.Counter
	complaint rate.Sometimes
	// inert are the kinds, by schema.GroupResource, of which the log was told that they are stored without effect.
	inert  sync.Map
	fields *apply.Managers
	// vouchers know the last writes.
	vouchers vouchers
	// turn is held, by being filled, by the one write that allocates.
	turn chan struct{}
	// listAll is a lister of all objects, but those that can't be read.
	listAll lister
	// observe is told of each request that the process has made itself; panicked says that it did.
	observe func(t target, verb string, code int, took time.Duration, panicked bool)
	// authorizer judges requests; roles is its mode RBAC, nil without.
	authorizer auth.Authorizer
	roles      *live.Authorizer
}

// lister returns a page of a collection.
type lister func(context.Context, target, *metainternal.ListOptions) ([]*storage.Object, metav1.ListMeta, error)
