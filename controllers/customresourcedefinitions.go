package controllers

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/loopback"
)

var definitionBackoff = reconcile.Backoff{Min: 10 * time.Millisecond, Max: time.Minute}

// definitionRest is the pause after a failure that no event shortens.
const definitionRest = 200 * time.Millisecond

// CustomResourceDefinitions is the controller that maintains the status of CustomResourceDefinitions (CRDs), and
// deletes the objects of CRDs that are being deleted (AX pkg/controller/status, establish, nonstructuralschema,
// finalizer). In a cluster this is a part of the API server, so it always runs here.
//
// It guarantees:
//
//  1. Names that are unique in the group are accepted and the CRD is established in one write. A name that becomes free
//     is accepted for a CRD that waits for it.
//  2. Objects of a CRD that is being deleted are deleted as by any client, with regard to their finalizers; the CRD's
//     finalizer is removed when no object is left (F-09, F-10). The status shows an error of the deletion as long as it
//     lasts.
//  3. Nothing is polled: a pass follows an event, or a failure after a pause that grows to a minute. Events shorten
//     that pause to no less than a fifth of a second.
//  4. Passes run one after the other, so two CRDs can't get the same name.
type CustomResourceDefinitions struct {
	client *loopback.Client
	// webhooks call the conversion webhooks of CRDs.
	webhooks *webhook.Clients
	log      *slog.Logger

	// mu guards known: the CRDs by key, as they were last decoded.
	mu    sync.Mutex
	known map[string]knownDefinition
}

// Run runs until ctx is done, and returns after everything that it started has returned.
func (c *CustomResourceDefinitions) Run(ctx context.Context) {
	loop := reconcile.Loop[string]{Keys: reconcile.NewKeys(definitionBackoff, strings.Compare),
		About: func(name string) reconcile.Object {
			return workload.CustomResourceDefinitions.About(workload.Key{Name: name})
		},
		Workers: 1, // two CRDs must not get the same name
		Follow:  c.follow, Pass: c.keep, Log: c.log, What: "CRDs"}
	loop.Run(ctx)
}

// keep runs a pass. After a conflict, the event of the other write causes another pass.
func (c *CustomResourceDefinitions) keep(ctx context.Context, name string) reconcile.Outcome {
	err := c.pass(ctx, name)
	if err == nil || ctx.Err() != nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return reconcile.Outcome{}
	}
	c.log.Warn("failed to update a CustomResourceDefinition", "name", name, "err", err)
	return reconcile.Outcome{Err: err, Rest: definitionRest} // writing the failure into the status is an event, too
}
