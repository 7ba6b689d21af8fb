package core

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func limitRanges() *entry.Resource {
	return &entry.Resource{
		Plural: "limitranges", New: entry.New[corev1.LimitRange], Namespaced: true,
		ShortNames: []string{"limits"},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,
			Metadata:       entry.Metadata{Again: 1},
			Default:        entry.Default(defaultLimitRange),
			Prepare:        entry.Prepare(nameLimitRange, nil),
			Validate:       entry.Validate(validateLimitRange),
		},
	}
}

// defaultLimitRange completes the items for containers. A missing default limit becomes the maximum. A missing default
// request becomes the default limit, or else the minimum.
func defaultLimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		limitRangeItem(item)
		for _, list := range limitLists(item) {
			check.Round(list)
		}
	}
}

func limitLists(i *corev1.LimitRangeItem) []corev1.ResourceList {
	return []corev1.ResourceList{i.Max, i.Min, i.Default, i.DefaultRequest, i.MaxLimitRequestRatio}
}

func limitRangeItem(i *corev1.LimitRangeItem) {
	if i.Type != corev1.LimitTypeContainer {
		return
	}
	for _, list := range []*corev1.ResourceList{&i.Default, &i.DefaultRequest} {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
	}
	addMissing(i.Default, i.Max)
	addMissing(i.DefaultRequest, i.Default)
	addMissing(i.DefaultRequest, i.Min)
}

// addMissing copies those entries of source into target whose names target lacks.
func addMissing(target, source corev1.ResourceList) {
	for name, q := range source {
		if _, ok := target[name]; !ok {
			target[name] = q.DeepCopy()
		}
	}
}

// nameLimitRange sets the name of a limit range without a name to its UID. Upstream uses another random UUID.
func nameLimitRange(l *corev1.LimitRange) {
	if l.Name == "" {
		l.Name = string(l.UID)
	}
}

func validateLimitRange(l *corev1.LimitRange) (errs field.ErrorList) {
	types := check.Unique[corev1.LimitType]{}
	for i := range l.Spec.Limits {
		item, at := &l.Spec.Limits[i], field.NewPath("spec", "limits").Index(i)
		errs = append(errs, limitType(item.Type, at.Child("type"))...)
		errs = append(errs, types.Add(item.Type, at.Child("type"))...)
		errs = append(errs, limitNames(item, at)...)
		all := corev1.ResourceList{}
		for _, list := range limitLists(item) {
			maps.Copy(all, list)
		}
		for _, name := range check.Sorted(all) {
			errs = append(errs, limitAmounts(item, name, at)...)
		}
	}
	return errs
}

func limitType(t corev1.LimitType, at *field.Path) field.ErrorList {
	if errs := check.QualifiedName(string(t), at); len(errs) != 0 || strings.Contains(string(t), "/") {
		return errs
	}
	standard := t == corev1.LimitTypePod || t == corev1.LimitTypeContainer || t == corev1.LimitTypePersistentVolumeClaim
	return check.Reject(!standard, at, t, "must be a standard limit type or fully qualified")
}

// limitNames validates the resources of an item.
func limitNames(item *corev1.LimitRangeItem, at *field.Path) (errs field.ErrorList) {
	names := func(list corev1.ResourceList, field string) {
		for _, name := range check.Sorted(list) {
			is := check.NameOfResource
			if item.Type == corev1.LimitTypePod || item.Type == corev1.LimitTypeContainer {
				is = check.ContainerResourceName
			}
			errs = append(errs, is(name, at.Child(field).Key(string(name)))...)
		}
	}
	names(item.Max, "max")
	names(item.Min, "min")
	if item.Type == corev1.LimitTypePod {
		const text = "may not be specified when `type` is 'Pod'"
		errs = append(errs, check.Forbid(len(item.Default) > 0, at.Child("default"), text)...)
		errs = append(errs, check.Forbid(len(item.DefaultRequest) > 0, at.Child("defaultRequest"), text)...)
	} else {
		names(item.Default, "default")
		names(item.DefaultRequest, "defaultRequest")
	}
	if item.Type == corev1.LimitTypePersistentVolumeClaim {
		_, least := item.Min[corev1.ResourceStorage]
		_, most := item.Max[corev1.ResourceStorage]
		errs = append(errs, check.Present(least || most, at.Child("limits"),
			"either minimum or maximum storage value is required, but neither was provided")...)
	}
	names(item.MaxLimitRequestRatio, "maxLimitRequestRatio")
	return errs
}

// amount is the quantity of a resource in one of an item's lists.
type amount struct {
	resource.Quantity
	given bool
}

// above reports whether both quantities are set and a is larger.
func (a amount) above(b amount) bool { return a.given && b.given && a.Cmp(b.Quantity) > 0 }

func amountOf(list corev1.ResourceList, name corev1.ResourceName) amount {
	q, ok := list[name]
	return amount{q, ok}
}

// limitAmounts validates an item's quantities of a resource.
func limitAmounts(item *corev1.LimitRangeItem, name corev1.ResourceName, at *field.Path) (errs field.ErrorList) {
	least, most := amountOf(item.Min, name), amountOf(item.Max, name)
	var limit, request amount
	if item.Type != corev1.LimitTypePod {
		limit, request = amountOf(item.Default, name), amountOf(item.DefaultRequest, name)
	}
	for _, c := range []struct {
		large, small amount
		field        string
		shown        amount
		text         string
	}{
		{least, most, "min", least, "min value %s is greater than max value %s"},
		{least, request, "defaultRequest", request, "min value %s is greater than default request value %s"},
		{request, most, "defaultRequest", request, "default request value %s is greater than max value %s"},
		{request, limit, "defaultRequest", request, "default request value %s is greater than default limit value %s"},
		{least, limit, "default", least, "min value %s is greater than default value %s"},
		{limit, most, "default", most, "default value %s is greater than max value %s"},
	} {
		errs = append(errs, check.Reject(c.large.above(c.small), at.Child(c.field).Key(string(name)), c.shown.Quantity,
			fmt.Sprintf(c.text, c.large.String(), c.small.String()))...)
	}
	errs = append(errs, limitRatio(amountOf(item.MaxLimitRequestRatio, name), least, most,
		at.Child("maxLimitRequestRatio").Key(string(name)))...)
	if limit.given && request.given && limit.Cmp(request.Quantity) != 0 &&
		(!check.IsNativeResource(name) || check.IsHugePage(name)) {
		errs = append(errs, field.Invalid(at.Child("defaultRequest").Key(string(name)), request.Quantity,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", limit.String(), request.String(), name)))
	}
	return errs
}

func limitRatio(ratio, least, most amount, at *field.Path) (errs field.ErrorList) {
	if !ratio.given {
		return nil
	}
	errs = append(errs, check.Reject(ratio.CmpInt64(1) < 0, at, ratio.Quantity,
		fmt.Sprintf("ratio %s is less than 1", ratio.String()))...)
	if !least.given || !most.given {
		return errs
	}
	value, low, high := float64(ratio.Value()), least.Value(), most.Value()
	if ratio.Value() < resource.MaxMilliValue && low < resource.MaxMilliValue && high < resource.MaxMilliValue {
		value, low, high = float64(ratio.MilliValue())/1000, least.MilliValue(), most.MilliValue()
	}
	if bound := float64(high) / float64(low); value > bound {
		errs = append(errs, field.Invalid(at, ratio.Quantity, fmt.Sprintf("ratio %s is greater than max/min = %f",
			ratio.String(), bound)))
	}
	return errs
}
