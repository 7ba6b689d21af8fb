package flowcontrol

import (
	"fmt"
	"math"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func priorityLevelConfigurations() *entry.Resource {
	return &entry.Resource{
		Plural: "prioritylevelconfigurations", New: entry.New[flowcontrolv1.PriorityLevelConfiguration],
		Strategy: entry.Strategy{
			Generation: entry.SpecGeneration,
			Default:    entry.Default(defaultPriorityLevelConfiguration),
			Validate:   entry.Validate(validatePriorityLevel),
		},
		Subresources: entry.StatusOf(keepMeta[*flowcontrolv1.PriorityLevelConfiguration], validatePriorityLevelStatus),
		Table:        priorityLevelTable(),
	}
}

// defaultPriorityLevelConfiguration sets the default shares, and the defaults of queues if the level has any.
func defaultPriorityLevelConfiguration(p *flowcontrolv1.PriorityLevelConfiguration) {
	if l := p.Spec.Limited; l != nil {
		check.SetDefault(&l.NominalConcurrencyShares, 30)
		check.SetDefault(&l.LendablePercent, 0)
		if q := l.LimitResponse.Queuing; q != nil {
			check.FillDefault(&q.HandSize, 8)
			check.FillDefault(&q.Queues, 64)
			check.FillDefault(&q.QueueLengthLimit, 50)
		}
	}
	if e := p.Spec.Exempt; e != nil {
		check.SetDefault(&e.NominalConcurrencyShares, 0)
		check.SetDefault(&e.LendablePercent, 0)
	}
}

const (
	maxQueues   = 10 * 1000 * 1000
	maxHashBits = 60
)

var (
	levelTypes = []flowcontrolv1.PriorityLevelEnablement{
		flowcontrolv1.PriorityLevelEnablementExempt, flowcontrolv1.PriorityLevelEnablementLimited,
	}
	limitResponses = []flowcontrolv1.LimitResponseType{
		flowcontrolv1.LimitResponseTypeQueue, flowcontrolv1.LimitResponseTypeReject,
	}
)

func validatePriorityLevel(l *flowcontrolv1.PriorityLevelConfiguration) (errs field.ErrorList) {
	at, s := field.NewPath("spec"), &l.Spec
	errs = append(errs, check.Reject((l.Name == "exempt") != (s.Type == flowcontrolv1.PriorityLevelEnablementExempt),
		at.Child("type"), s.Type, "type must be 'Exempt' if and only if name is 'exempt'")...)
	switch s.Type {
	case flowcontrolv1.PriorityLevelEnablementExempt:
		if e := s.Exempt; e != nil {
			errs = append(errs, shares(e.NominalConcurrencyShares, at.Child("exempt", "nominalConcurrencyShares"))...)
			errs = append(errs, lendable(e.LendablePercent, at.Child("exempt", "lendablePercent"))...)
		}
	case flowcontrolv1.PriorityLevelEnablementLimited:
		errs = append(errs, check.Optional(s.Limited, at.Child("limited"), limitedLevel)...)
	default:
		errs = append(errs, check.OneOf(s.Type, at.Child("type"), levelTypes)...)
	}
	errs = append(errs, mandatoryLevel(l, at)...)
	return append(errs, validatePriorityLevelStatus(l, l)...)
}

// mandatoryLevel makes the two mandatory levels immutable, except for the lendable seats of the level exempt.
func mandatoryLevel(l *flowcontrolv1.PriorityLevelConfiguration, at *field.Path) (errs field.ErrorList) {
	for _, m := range bootstrap.MandatoryPriorityLevelConfigurations {
		fixed, text := m.Spec, "spec of '%s' must equal the fixed value"
		if fixed.Exempt != nil {
			fixed.Exempt, text = l.Spec.Exempt, "spec of '%s' except the 'spec.exempt' field must equal the fixed value"
		}
		errs = append(errs, check.Reject(l.Name == m.Name && !apiequality.Semantic.DeepEqual(l.Spec, fixed), at, l.Spec,
			fmt.Sprintf(text, l.Name))...)
	}
	return errs
}

func validatePriorityLevelStatus(l, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	return flowConditions(l.Status.Conditions, func(c flowcontrolv1.PriorityLevelConfigurationCondition) string {
		return string(c.Type)
	})
}

func shares(n *int32, at *field.Path) field.ErrorList {
	return check.Reject(check.ValueOf(n) < 0, at, n, "must be a non-negative integer")
}

func lendable(n *int32, at *field.Path) field.ErrorList {
	percent := check.ValueOf(n)
	return check.Reject(percent < 0 || percent > 100, at, n, "must be between 0 and 100, inclusive")
}

func limitedLevel(l *flowcontrolv1.LimitedPriorityLevelConfiguration, at *field.Path) field.ErrorList {
	errs := shares(l.NominalConcurrencyShares, at.Child("nominalConcurrencyShares"))
	response := at.Child("limitResponse")
	switch r := &l.LimitResponse; r.Type {
	case flowcontrolv1.LimitResponseTypeReject:
	case flowcontrolv1.LimitResponseTypeQueue:
		errs = append(errs, check.Optional(r.Queuing, response.Child("queuing"), queues)...)
	default:
		errs = append(errs, check.OneOf(r.Type, response.Child("type"), limitResponses)...)
	}
	errs = append(errs, lendable(l.LendablePercent, at.Child("lendablePercent"))...)
	errs = append(errs, check.Reject(check.ValueOf(l.BorrowingLimitPercent) < 0, at.Child("borrowingLimitPercent"),
		l.BorrowingLimitPercent, "if specified, must be a non-negative integer")...)
	return errs
}

func queues(q *flowcontrolv1.QueuingConfiguration, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Reject(q.QueueLengthLimit <= 0, at.Child("queueLengthLimit"), q.QueueLengthLimit,
		"must be positive")...)
	if q.Queues <= 0 {
		errs = append(errs, field.Invalid(at.Child("queues"), q.Queues, "must be positive"))
	} else if q.Queues > maxQueues {
		errs = append(errs, field.Invalid(at.Child("queues"), q.Queues, fmt.Sprintf("must not be greater than %d",
			maxQueues)))
	}
	hand := at.Child("handSize")
	bits := int(math.Ceil(math.Log2(float64(q.Queues)) * float64(q.HandSize)))
	switch {
	case q.HandSize <= 0:
		errs = append(errs, field.Invalid(hand, q.HandSize, "must be positive"))
	case q.HandSize > q.Queues:
		errs = append(errs, field.Invalid(hand, q.HandSize, fmt.Sprintf("should not be greater than queues (%d)", q.Queues)))
	case bits > maxHashBits:
		errs = append(errs, field.Invalid(hand, q.HandSize,
			fmt.Sprintf("required entropy bits of deckSize %d and handSize %d should not be greater than %d", q.Queues,
				q.HandSize, maxHashBits)))
	}
	return errs
}

// priorityLevelTable returns a table whose cells are numbers, although the columns are strings. Missing settings are
// "<none>": an exempt level has no shares, and a level that rejects requests has no queues.
func priorityLevelTable() entry.Table {
	queuing := flowcontrolv1.QueuingConfiguration{}.SwaggerDoc()
	return entry.Listed([]entry.Column{
		entry.Text("Type", flowcontrolv1.PriorityLevelConfigurationSpec{}.SwaggerDoc()["type"]),
		entry.Text(
			"NominalConcurrencyShares",
			flowcontrolv1.LimitedPriorityLevelConfiguration{}.SwaggerDoc()["nominalConcurrencyShares"],
		),
		entry.Text("Queues", queuing["queues"]),
		entry.Text("HandSize", queuing["handSize"]),
		entry.Text("QueueLengthLimit", queuing["queueLengthLimit"]),
	}, func(l *flowcontrolv1.PriorityLevelConfiguration) []any {
		var shares, queues, hand, length any = entry.None, entry.None, entry.None, entry.None
		if limited := l.Spec.Limited; limited != nil {
			shares = int64(entry.ValueOr(limited.NominalConcurrencyShares, 0))
			if q := limited.LimitResponse.Queuing; q != nil {
				queues, hand, length = int64(q.Queues), int64(q.HandSize), int64(q.QueueLengthLimit)
			}
		}
		return []any{string(l.Spec.Type), shares, queues, hand, length}
	})
}
