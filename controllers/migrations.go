package controllers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/loopback"
)

// The field managers of rewrites, and of the status of definitions. The status of migrations has the field manager
// Manager.
const (
	MigrationManager           = "storage-version-migrator-controller"
	MigrationDefinitionManager = "migration-runner-controller"
)

// groupResource names the resource of a migration.
type groupResource = metav1.GroupResource

// migrationWorkers is the maximum number of resources whose objects are rewritten concurrently (K
// storageversionmigrator.go).
const migrationWorkers = 5

// migrationBackoff is the pause after failures (CG util/workqueue: DefaultTypedControllerRateLimiter).
var migrationBackoff = reconcile.Backoff{Min: 5 * time.Millisecond, Max: 1000 * time.Second}

// migrationPause is the minimum time between a failure and the next pass, as writing the failure to the status is an
// event.
const migrationPause = time.Second

// migrate rewrites the objects of the resources that StorageVersionMigrations name, until ctx is done, and returns when
// all its goroutines have.
func migrate(ctx context.Context, client func(manager string) *loopback.Client, log *slog.Logger) {
	c := &migrator{statuses: client(Manager), objects: client(MigrationManager),
		definitions: client(MigrationDefinitionManager), log: log}
	loop := reconcile.Loop[groupResource]{
		Keys: reconcile.NewKeys(migrationBackoff, compareResources), Workers: migrationWorkers,
		Follow: c.follow, Pass: c.pass, About: aboutResource, Log: log, What: "storage version migrations",
	}
	loop.Run(ctx)
}

func compareResources(a, b groupResource) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
}

// aboutResource names a resource, whose migrations a pass is about.
func aboutResource(r groupResource) reconcile.Object {
	return reconcile.Object{Group: storagemigrationv1.GroupName, Version: "v1", Resource: "storageversionmigrations",
		Kind: "StorageVersionMigration", Name: r.String()}
}

// migrator rewrites the stored objects of the resource that a StorageVersionMigration names (K
// pkg/controller/storageversionmigrator: storage-version-migrator-controller).
//
// It guarantees:
//
//  1. Decisions are pure (migrationrules.go): migrations, definitions and the time in, conditions out.
//  2. A migration rewrites the objects that are not newer than its status.resourceVersion, which is the revision at
//     which it was first seen. Each rewrite is a patch without a change: the server writes the object only if the
//     stored bytes change, to another version or to another encryption key.
//  3. An object that was changed or deleted in the meantime needs no rewrite. After an error that may be temporary, the
//     migration starts again; after any other it fails.
//  4. One migration of a resource runs at a time, the oldest first; those of other resources run beside it.
//  5. A migration that has ended is never touched again. If its resource is custom, the definition's
//     status.storedVersions are up to date at that time, unless the definition has changed since the migration began.
//  6. A migration waits a minute for its resource to be served. Nothing is polled: a pass follows an event of a
//     migration or of its definition, the end of that minute, or a failure after a pause that doubles.
type migrator struct {
	// statuses writes the status of migrations, objects rewrites objects, and definitions writes the status of
	// definitions; each has its field manager.
	statuses, objects, definitions *loopback.Client
	log                            *slog.Logger
}

// pass continues the migrations of a resource. The end of one is an event, after which the next begins.
func (c *migrator) pass(ctx context.Context, r groupResource) reconcile.Outcome {
	wait, err := c.advance(ctx, r)
	switch {
	case err == nil:
		return reconcile.Outcome{Again: wait, Why: "the end of the wait for a resource to be served"}
	case needsNoRewrite(err): // another client has changed the object that was read: that is an event
		return reconcile.Outcome{Err: err}
	case ctx.Err() == nil:
		c.log.Warn("failed to migrate stored objects", "resource", r.String(), "err", err)
	}
	delay, _ := apierrors.SuggestsClientDelay(err)
	return reconcile.Outcome{Err: err, Rest: max(migrationPause, time.Duration(delay)*time.Second)}
}

// advance runs the next migration. If migrations wait for their resource, it returns the time after which they fail.
func (c *migrator) advance(ctx context.Context, r groupResource) (wait time.Duration, err error) {
	all, err := c.migrations(ctx, r)
	if err != nil {
		return 0, fmt.Errorf("reading: %w", err)
	}
	left := openMigrations(all)
	if len(left) == 0 {
		return 0, nil
	}
	if !migrationIs(left[0], storagemigrationv1.MigrationRunning) {
		if left[0], err = c.begin(ctx, r, left[0]); err != nil {
			return 0, err
		}
	}
	e, obstructed := c.served(r), false
	for i, m := range left {
		failure, rest := migrationObstacle(e, m, reconcile.Now(ctx))
		obstructed = failure != "" || rest > 0
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
	if obstructed {
		return wait, nil
	}
	return 0, c.run(ctx, r, left[0])
}

// begin makes a migration the one that runs.
func (c *migrator) begin(ctx context.Context, r groupResource, m *migration) (*migration, error) {
	now := reconcile.Now(ctx)
	d, err := c.definition(ctx, r)
	if err == nil && d != nil {
		err = c.mark(ctx, d, conditionMigrating(d, m, now), d.Status.StoredVersions)
	}
	if err != nil {
		return nil, fmt.Errorf("marking the definition: %w", err)
	}
	setRunning(m, "The migration is running", now)
	return c.write(ctx, m)
}

// see sets status.resourceVersion, up to which objects are rewritten.
func (c *migrator) see(ctx context.Context, m *migration) (*migration, error) {
	if err := c.statuses.API.Fresh(ctx); err != nil {
		return nil, fmt.Errorf("reading the revision: %w", err)
	}
	m.Status.ResourceVersion = strconv.FormatInt(c.statuses.Cache.Revision(), 10) // later writes have a greater one
	return c.write(ctx, m)
}

// run rewrites the objects, one after the other.
func (c *migrator) run(ctx context.Context, r groupResource, m *migration) error {
	objects, err := c.list(ctx, r)
	if err != nil {
		return fmt.Errorf("listing: %w", err)
	}
	if objects, err = olderObjects(objects, m.Status.ResourceVersion); err != nil {
		return c.fail(ctx, r, m, err.Error())
	}
	for i, o := range objects {
		err := c.rewrite(ctx, r, o)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil, needsNoRewrite(err):
		case isRetriable(err):
			if interruptMigration(m, len(objects)-i, len(objects), err, reconcile.Now(ctx)) {
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
	succeedMigration(m, len(objects), reconcile.Now(ctx))
	_, err = c.write(ctx, m)
	return err
}

// fail ends a migration. Only one that runs has marked the definition.
func (c *migrator) fail(ctx context.Context, r groupResource, m *migration, why string) error {
	if migrationIs(m, storagemigrationv1.MigrationRunning) {
		if err := c.finish(ctx, r, false); err != nil {
			return err
		}
	}
	failMigration(m, why, reconcile.Now(ctx))
	_, err := c.write(ctx, m)
	return err
}

// finish records the end of a migration in the definition. The definition is written before the migration's own status:
// a client that sees that status then also sees the new stored versions. A process that ends between the two writes
// repeats both.
func (c *migrator) finish(ctx context.Context, r groupResource, success bool) error {
	d, err := c.definition(ctx, r)
	if err == nil && d != nil {
		condition, stored := conditionMigrated(d, success, reconcile.Now(ctx))
		err = c.mark(ctx, d, condition, stored)
	}
	if err != nil {
		return fmt.Errorf("updating the definition: %w", err)
	}
	return nil
}
