package resources

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func priorityClasses() *entry.Resource {
	return &entry.Resource{
		Plural: "priorityclasses", New: entry.New[schedulingv1.PriorityClass],
		ShortNames: []string{"pc"},
		Strategy: entry.Strategy{
			Generation: entry.CreateOnlyGeneration,
			Default:    entry.Default(defaultPriorityClass),
			Validate:   entry.ValidateEither(validatePriorityClass, validatePriorityClassUpdate),
		},
		Delete: entry.Deletion{Reject: systemPriority},
		Table:  priorityClassTable(),
	}
}

// systemPriority rejects the deletion of the two system classes (C-67).
func systemPriority(name string) string {
	if _, ok := systemPriorities[name]; ok {
		return "this is a system priority class and cannot be deleted"
	}
	return ""
}

func defaultPriorityClass(c *schedulingv1.PriorityClass) {
	check.SetDefault(&c.PreemptionPolicy, corev1.PreemptLowerPriority)
}

const (
	systemPrefix    = "system-"
	highestPriority = int32(1000000000)
)

// systemPriorities are the two classes of every cluster (scheduling/v1 SystemPriorityClasses).
var systemPriorities = map[string]int32{
	"system-node-critical": 2*highestPriority + 1000, "system-cluster-critical": 2 * highestPriority,
}

var preemptionPolicies = []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}

func validatePriorityClass(c *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if strings.HasPrefix(c.Name, systemPrefix) {
		if why := notSystem(c); why != "" {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"),
				"priority class names with '"+systemPrefix+"' prefix are reserved for system use only. error: "+why))
		}
	} else if c.Value > highestPriority {
		errs = append(errs, field.Forbidden(field.NewPath("value"),
			fmt.Sprintf("maximum allowed value of a user defined priority is %v", highestPriority)))
	}
	if c.PreemptionPolicy != nil {
		errs = append(errs, check.Required(*c.PreemptionPolicy, field.NewPath("preemptionPolicy"), preemptionPolicies)...)
	}
	return errs
}

// notSystem returns the reason why a class is not one of the system classes, or an empty string.
func notSystem(c *schedulingv1.PriorityClass) string {
	value, known := systemPriorities[c.Name]
	switch {
	case !known:
		return fmt.Sprintf("%v is not a known system priority class", c.Name)
	case c.Value != value:
		return fmt.Sprintf("value of %v PriorityClass must be %v", c.Name, value)
	case c.GlobalDefault:
		return fmt.Sprintf("globalDefault of %v PriorityClass must be %v", c.Name, false)
	}
	return ""
}

func validatePriorityClassUpdate(c, old *schedulingv1.PriorityClass) (errs field.ErrorList) {
	errs = append(errs, check.Forbid(c.Value != old.Value, field.NewPath("value"),
		"may not be changed in an update.")...)
	return append(errs, check.Immutable(c.PreemptionPolicy, old.PreemptionPolicy, field.NewPath("preemptionPolicy"))...)
}

func priorityClassTable() entry.Table {
	doc := schedulingv1.PriorityClass{}.SwaggerDoc()
	return entry.Printed([]entry.Column{
		entry.NameColumn,
		entry.Integer("Value", doc["value"]),
		entry.Boolean("Global-Default", doc["globalDefault"]),
		entry.AgeColumn,
		entry.Text("PreemptionPolicy", doc["preemptionPolicy"]),
	}, func(c *schedulingv1.PriorityClass) []any {
		return []any{int64(c.Value), c.GlobalDefault, string(entry.ValueOr(c.PreemptionPolicy, ""))}
	})
}
