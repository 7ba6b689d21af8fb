package migration

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/loopback"
)

// The field managers: of rewrites, of the status of definitions, and of that of migrations.
const (
	Manager           = "storage-version-migrator-controller"
	DefinitionManager = "migration-runner-controller"
	statusManager     = "kube-controller-manager"
)

// Resource names the resource of a migration.
type Resource = metav1.GroupResource

// workers is the maximum number of resources whose objects are rewritten concurrently (K storageversionmigrator.go).
const workers = 5

// backoff is the pause after failures (CG util/workqueue: DefaultTypedControllerRateLimiter).
var backoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 1000 * time.Second}

// pause is the least time between a failure and the next pass: the status that notes it is an event.
const pause = time.Second

// Run migrates until ctx is done, and returns when all its goroutines have.
func Run(ctx context.Context, client func(manager string) *loopback.Client, log *slog.Logger) {
	c := &controller{statuses: client(statusManager), objects: client(Manager), definitions: client(DefinitionManager),
		log: log}
	loop := reconcile.Loop[Resource]{
		Keys: reconcile.NewKeys(backoff, compare), Workers: workers, Follow: c.follow, Pass: c.pass, About: about,
		Log: log, What: "storage version migrations",
	}
	loop.Run(ctx)
}

func compare(a, b Resource) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
}

// about names a resource, whose migrations a pass is about.
func about(r Resource) reconcile.Object {
	return reconcile.Object{Group: storagemigrationv1.GroupName, Version: "v1", Resource: "storageversionmigrations",
		Kind: "StorageVersionMigration", Name: r.String()}
}

// controller is a call of Run.
type controller struct {
	// statuses writes the status of migrations, objects rewrites objects, and definitions the status of definitions,
	// with their field managers.
	statuses, objects, definitions *loopback.Client
	log                            *slog.Logger
}

// pass carries on the migrations of a resource. The end of one is an event, after which the next begins.
func (c *controller) pass(ctx context.Context, r Resource) reconcile.Outcome {
	wait, err := c.settle(ctx, r)
	switch {
	case err == nil:
		return reconcile.Outcome{Again: wait, Why: "the end of the wait for a resource to be served"}
	case gone(err): // another client has changed the object that was read: that is an event
		return reconcile.Outcome{Err: err}
	case ctx.Err() == nil:
		c.log.Warn("failed to migrate stored objects", "resource", r.String(), "err", err)
	}
	delay, _ := apierrors.SuggestsClientDelay(err)
	return reconcile.Outcome{Err: err, Rest: max(pause, time.Duration(delay)*time.Second)}
}

// settle returns how long migrations wait for their resource.
func (c *controller) settle(ctx context.Context, r Resource) (wait time.Duration, err error) {
	all, err := c.migrations(ctx, r)
	if err != nil {
		return 0, fmt.Errorf("reading: %w", err)
	}
	left := open(all)
	if len(left) == 0 {
		return 0, nil
	}
	if !is(left[0], storagemigrationv1.MigrationRunning) {
		if left[0], err = c.begin(ctx, r, left[0]); err != nil {
			return 0, err
		}
	}
	target := c.target(r)
	for i, m := range left {
		failure, rest := obstacle(target, m, reconcile.Now(ctx))
		switch {
		case failure != "":
			if err := c.fail(ctx, r, m, failure); err != nil {
				return 0, err
			}
		case rest > 0:
			wait = cmp.Or(min(wait, rest), rest)
		case m.Status.ResourceVersion == "":
			if left[i], err = c.see(ctx, m); err != nil {
				return 0, err
			}
		}
	}
	if target != Migratable {
		return wait, nil
	}
	return 0, c.run(ctx, r, left[0])
}

// begin makes a migration the one that runs.
func (c *controller) begin(ctx context.Context, r Resource, m *Migration) (*Migration, error) {
	now := reconcile.Now(ctx)
	d, err := c.definition(ctx, r)
	if err == nil && d != nil {
		err = c.mark(ctx, d, migrating(d, m, now), d.Status.StoredVersions)
	}
	if err != nil {
		return nil, fmt.Errorf("marking the definition: %w", err)
	}
	begun(m, now)
	return c.write(ctx, m)
}

// see sets the resource version up to which objects are rewritten.
func (c *controller) see(ctx context.Context, m *Migration) (next *Migration, err error) {
	if m.Status.ResourceVersion, err = c.revision(ctx); err != nil {
		return nil, fmt.Errorf("reading the revision: %w", err)
	}
	return c.write(ctx, m)
}

func (c *controller) write(ctx context.Context, m *Migration) (*Migration, error) {
	next, err := c.updateStatus(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("updating the status of %s: %w", m.Name, err)
	}
	return next, nil
}

// run rewrites the objects, one after the other.
func (c *controller) run(ctx context.Context, r Resource, m *Migration) error {
	items, err := c.items(ctx, r)
	if err != nil {
		return fmt.Errorf("listing: %w", err)
	}
	if items, err = older(items, m.Status.ResourceVersion); err != nil {
		return c.fail(ctx, r, m, err.Error())
	}
	for i, item := range items {
		err := c.rewrite(ctx, r, item)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil, gone(err):
		case passing(err):
			if interrupted(m, len(items)-i, len(items), err, reconcile.Now(ctx)) {
				if _, err := c.write(ctx, m); err != nil {
					return err
				}
			}
			return fmt.Errorf("rewriting: %w", err)
		default:
			return c.fail(ctx, r, m, err.Error())
		}
	}
	if err := c.finish(ctx, r, true); err != nil {
		return err
	}
	succeeded(m, len(items), reconcile.Now(ctx))
	_, err = c.write(ctx, m)
	return err
}

// fail ends a migration. Only one that runs has marked the definition.
func (c *controller) fail(ctx context.Context, r Resource, m *Migration, why string) error {
	if is(m, storagemigrationv1.MigrationRunning) {
		if err := c.finish(ctx, r, false); err != nil {
			return err
		}
	}
	failed(m, why, reconcile.Now(ctx))
	_, err := c.write(ctx, m)
	return err
}

// finish records the end of a migration in the definition. It comes before the migration's own status: a client that
// reads that status also reads the new stored versions, and a process that ends between the two begins again.
func (c *controller) finish(ctx context.Context, r Resource, success bool) error {
	d, err := c.definition(ctx, r)
	if err == nil && d != nil {
		condition, stored := migrated(d, success, reconcile.Now(ctx))
		err = c.mark(ctx, d, condition, stored)
	}
	if err != nil {
		return fmt.Errorf("updating the definition: %w", err)
	}
	return nil
}
