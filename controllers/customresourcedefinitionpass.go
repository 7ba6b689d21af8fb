package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// pass makes the changes that one CRD needs now.
func (c *CustomResourceDefinitions) pass(ctx context.Context, name string) error {
	all, err := c.list()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(d *definition) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	d := all[i]
	if d.DeletionTimestamp != nil && apihelpers.CRDHasFinalizer(d, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return c.empty(ctx, d)
	}
	if next := c.evaluate(d, all, metav1.NewTime(reconcile.Now(ctx))); next != nil {
		_, err = c.updateStatus(ctx, next)
	}
	return err
}

// empty deletes the CRD's objects, and removes its finalizer when there are none (F-09, F-10).
func (c *CustomResourceDefinitions) empty(ctx context.Context, d *definition) error {
	if !deletionFails(d) { // an error stays in the status as long as it lasts, and each write causes a pass
		var err error
		if d, err = c.inProgress(ctx, d); err != nil {
			return err
		}
	}
	switch {
	case c.overlaps(d):
		return c.release(ctx, d, "OverlappingBuiltInResource", "instances overlap with built-in resources in storage")
	case !apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established):
		return c.release(ctx, d, "NeverEstablished", "resource was never established")
	}
	namespaces, err := c.namespaces(ctx, d)
	if err != nil {
		return c.failed(ctx, d, fmt.Errorf("could not list instances: %w", err))
	}
	if len(namespaces) == 0 {
		return c.release(ctx, d, "InstanceDeletionCompleted", "removed all instances")
	}
	var errs []error
	for _, ns := range namespaces {
		errs = append(errs, c.deleteAll(ctx, d, ns))
	}
	if err := errors.Join(errs...); err != nil {
		return c.failed(ctx, d, fmt.Errorf("could not issue all deletes: %w", err))
	}
	_, err = c.inProgress(ctx, d)
	return err // the deletion of each object is an event
}

// inProgress sets the condition that objects are being deleted.
func (c *CustomResourceDefinitions) inProgress(ctx context.Context, d *definition) (*definition, error) {
	return c.terminating(ctx, d, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
}

// deletionFails reports whether the last pass could not delete the objects.
func deletionFails(d *definition) bool {
	return apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Terminating) &&
		apihelpers.FindCRDCondition(d, apiextensionsv1.Terminating).Reason == reasonDeletionFailed
}

// reasonDeletionFailed is the reason of a CRD whose objects can't be deleted.
const reasonDeletionFailed = "InstanceDeletionFailed"

// failed reports an error in the status.
func (c *CustomResourceDefinitions) failed(ctx context.Context, d *definition, err error) error {
	_, more := c.terminating(ctx, d, reasonDeletionFailed, err.Error())
	return errors.Join(err, more)
}

func (c *CustomResourceDefinitions) release(ctx context.Context, d *definition, reason, message string) error {
	d = d.DeepCopy()
	setTerminating(ctx, d, apiextensionsv1.ConditionFalse, reason, message)
	apihelpers.CRDRemoveFinalizer(d, apiextensionsv1.CustomResourceCleanupFinalizer)
	_, err := c.updateStatus(ctx, d)
	return err
}

// terminating stores the reason why the CRD still exists.
func (c *CustomResourceDefinitions) terminating(
	ctx context.Context, d *definition, reason, message string,
) (*definition, error) {
	next := d.DeepCopy()
	setTerminating(ctx, next, apiextensionsv1.ConditionTrue, reason, message)
	if slices.Equal(next.Status.Conditions, d.Status.Conditions) {
		return d, nil
	}
	return c.updateStatus(ctx, next)
}

func setTerminating(
	ctx context.Context, d *definition, status apiextensionsv1.ConditionStatus, reason, message string,
) {
	customresource.SetCondition(d, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message,
	}, metav1.NewTime(reconcile.Now(ctx)))
}
