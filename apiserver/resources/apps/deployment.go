package apps

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/podspec"
)

func deployments() *entry.Resource {
	return &entry.Resource{
		Plural: "deployments", New: entry.New[appsv1.Deployment], Namespaced: true,
		ShortNames: []string{"deploy"}, Categories: entry.All,
		Storage: entry.Storage{Coerce: entry.Coerce(parseRollback)},
		Strategy: entry.Strategy{
			Generation: entry.SpecOrAnnotations,
			Default:    entry.Default(defaultDeployment),
			Prepare:    podspec.DropFieldsOf,
			Validate:   entry.ValidateChange(validateDeployment),
			Warnings:   podspec.NamedWarnings,
		},
		Subresources: []entry.Subresource{
			entry.ScaleOf(appsv1.Resource("deployments/scale")),
			entry.StatusSubresource(keepDeploymentStatus, validateDeploymentStatus),
		},
		Table: deploymentTable(),
	}
}

// defaultDeployment sets the defaults, such as one replica and a rolling update of 25 %.
func defaultDeployment(d *appsv1.Deployment) {
	check.SetDefault(&d.Spec.Replicas, 1)
	s := &d.Spec.Strategy
	check.FillDefault(&s.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if s.Type == appsv1.RollingUpdateDeploymentStrategyType {
		check.SetDefault(&s.RollingUpdate, appsv1.RollingUpdateDeployment{})
		check.SetDefault(&s.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		check.SetDefault(&s.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	check.SetDefault(&d.Spec.RevisionHistoryLimit, 10)
	check.SetDefault(&d.Spec.ProgressDeadlineSeconds, 600)
	podspec.DefaultTemplate(&d.Spec.Template)
}

// keepDeploymentStatus restores labels (B-41).
func keepDeploymentStatus(d, old *appsv1.Deployment) { d.Labels = old.Labels }

// parseRollback normalizes the annotation with the revision to which a client rolls back. The revision is a field of
// upstream's internal type (K pkg/apis/apps/v1/conversion.go: Convert_v1_Deployment_To_apps_Deployment,
// Convert_apps_Deployment_To_v1_Deployment).
func parseRollback(d *appsv1.Deployment) error {
	value, ok := d.Annotations[appsv1.DeprecatedRollbackTo]
	if !ok {
		return nil
	}
	if value == "" {
		delete(d.Annotations, appsv1.DeprecatedRollbackTo)
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return fmt.Errorf("failed to parse annotation[%s]=%s as int64: %v", appsv1.DeprecatedRollbackTo, value, err)
	}
	d.Annotations[appsv1.DeprecatedRollbackTo] = strconv.FormatInt(n, 10)
	return nil
}

func validateDeployment(d, old *appsv1.Deployment) field.ErrorList {
	s, was := &d.Spec, check.ValueOf(old)
	errs := check.Naturals(check.SpecPath, "replicas", s.Replicas)
	usable, faults := podSelector(s.Selector, "invalid label selector", "empty selector is invalid for deployment")
	errs = append(errs, faults...)
	errs = append(errs, replicas(usable, &s.Template, &was.Spec.Template)...)
	errs = append(errs, deploymentStrategy(&s.Strategy, check.SpecPath.Child("strategy"))...)
	errs = append(errs, check.Natural(s.MinReadySeconds, check.SpecPath.Child("minReadySeconds"))...)
	errs = append(errs, check.Naturals(check.SpecPath, "revisionHistoryLimit", s.RevisionHistoryLimit)...)
	if n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedRollbackTo], 10, 64); err == nil {
		errs = append(errs, check.Natural(n, check.SpecPath.Child("rollback", "version"))...)
	}
	errs = append(errs, check.Naturals(check.SpecPath, "progressDeadlineSeconds", s.ProgressDeadlineSeconds)...)
	errs = append(errs, check.Reject(s.ProgressDeadlineSeconds != nil && *s.ProgressDeadlineSeconds <= s.MinReadySeconds,
		check.SpecPath.Child("progressDeadlineSeconds"), s.ProgressDeadlineSeconds,
		"must be greater than minReadySeconds")...)
	if old == nil {
		return errs
	}
	return append(errs, podspec.SameSelector(s.Selector, old.Spec.Selector)...)
}

func deploymentStrategy(s *appsv1.DeploymentStrategy, at *field.Path) (errs field.ErrorList) {
	rolling := at.Child("rollingUpdate")
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		errs = append(errs, check.Forbid(s.RollingUpdate != nil, rolling,
			"may not be specified when strategy `type` is 'Recreate'")...)
	case appsv1.RollingUpdateDeploymentStrategyType:
		if s.RollingUpdate == nil {
			return field.ErrorList{field.Required(rolling, "this should be defaulted and never be nil")}
		}
		down, up := check.ValueOf(s.RollingUpdate.MaxUnavailable), check.ValueOf(s.RollingUpdate.MaxSurge)
		errs = append(errs, check.IntOrPercent(down, rolling.Child("maxUnavailable"))...)
		errs = append(errs, check.IntOrPercent(up, rolling.Child("maxSurge"))...)
		errs = append(errs, check.Reject(sizeOf(down) == 0 && sizeOf(up) == 0, rolling.Child("maxUnavailable"), down,
			"may not be 0 when `maxSurge` is 0")...)
		errs = append(errs, check.AtMostWhole(down, rolling.Child("maxUnavailable"))...)
	default:
		errs = append(errs, field.NotSupported(at, *s,
			[]appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}))
	}
	return errs
}

func validateDeploymentStatus(d, old *appsv1.Deployment) field.ErrorList {
	s := &d.Status
	errs := check.Natural(s.ObservedGeneration, check.StatusPath.Child("observedGeneration"))
	parts := []podspec.Count{
		{Name: "updatedReplicas", N: s.UpdatedReplicas}, {Name: "readyReplicas", N: s.ReadyReplicas},
		{Name: "availableReplicas", N: s.AvailableReplicas},
	}
	all := append([]podspec.Count{{Name: "replicas", N: s.Replicas}}, parts...)
	all = append(all, podspec.Count{Name: "unavailableReplicas", N: s.UnavailableReplicas})
	errs = append(errs, podspec.Counts(0, all, nil)...)
	errs = append(errs, check.Naturals(check.StatusPath, "terminatingReplicas", s.TerminatingReplicas)...)
	errs = append(errs, check.Naturals(check.StatusPath, "collisionCount", s.CollisionCount)...)
	errs = append(errs, podspec.Counts(s.Replicas, nil, parts)...)
	errs = append(errs, podspec.AvailableReady(s.AvailableReplicas, s.ReadyReplicas,
		"cannot be greater than readyReplicas")...)
	return append(errs, collisions(s.CollisionCount, old.Status.CollisionCount)...)
}

func deploymentTable() entry.Table {
	status := appsv1.DeploymentStatus{}.SwaggerDoc()
	return entry.Listed(append([]entry.Column{
		entry.Text("Ready", "Number of the pod with ready state"),
		entry.Text("Up-to-date", status["updatedReplicas"]),
		entry.Text("Available", status["availableReplicas"]),
	}, entry.PodColumns(appsv1.DeploymentSpec{}.SwaggerDoc()["selector"])...), func(d *appsv1.Deployment) []any {
		return append([]any{
			fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, entry.ValueOr(d.Spec.Replicas, 0)),
			int64(d.Status.UpdatedReplicas), int64(d.Status.AvailableReplicas),
		}, entry.PodCells(&d.Spec.Template.Spec, entry.FormatSelector(d.Spec.Selector))...)
	})
}
