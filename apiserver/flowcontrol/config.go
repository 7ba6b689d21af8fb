package flowcontrol

import (
	"cmp"
	"math"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	fq "k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
)

// config is the configuration by the stored objects.
type config struct {
	// schemas are in the order of precedence. Those whose level does not exist are omitted.
	schemas []*flowcontrolv1.FlowSchema
	// levels are the levels by name.
	levels map[string]*level
	// series are the metrics by level and schema.
	series map[key]*series
}

// key identifies a schema and its level.
type key struct{ level, schema string }

// level is a priority level.
type level struct {
	object  *flowcontrolv1.PriorityLevelConfiguration
	exempt  bool
	seats   int
	queuing fq.QueuingConfig
}

// newConfig returns the configuration of a server with a number of seats (AS pkg/util/flowcontrol/apf_controller.go:
// digestConfigObjects, finishQueueSetReconfigsLocked). It omits invalid levels, which only another program can store.
func newConfig(
	schemas []*flowcontrolv1.FlowSchema, levels []*flowcontrolv1.PriorityLevelConfiguration, seats int,
) *config {
	c := &config{levels: map[string]*level{}}
	var shares float64
	for _, o := range withMandatory(levels, bootstrap.MandatoryPriorityLevelConfigurations, keepLevel) {
		if l := newLevel(o); l != nil {
			c.levels[o.Name] = l
			shares += float64(l.shares())
		}
	}
	for _, l := range c.levels {
		l.seats = int(math.Ceil(float64(seats) * float64(l.shares()) / max(shares, 1)))
	}
	for _, s := range withMandatory(schemas, bootstrap.MandatoryFlowSchemas, keepSchema) {
		if c.levels[s.Spec.PriorityLevelConfiguration.Name] != nil {
			c.schemas = append(c.schemas, s)
		}
	}
	slices.SortFunc(c.schemas, func(a, b *flowcontrolv1.FlowSchema) int {
		return cmp.Or(cmp.Compare(a.Spec.MatchingPrecedence, b.Spec.MatchingPrecedence), cmp.Compare(a.Name, b.Name))
	})
	return c
}

// keepLevel and keepSchema return the stored object with the specification of the mandatory one.
func keepLevel(stored, mandatory *flowcontrolv1.PriorityLevelConfiguration) *flowcontrolv1.PriorityLevelConfiguration {
	if mandatory.Spec.Type == flowcontrolv1.PriorityLevelEnablementExempt && stored.Spec.Type == mandatory.Spec.Type {
		return stored // its shares may be changed
	}
	kept := stored.DeepCopy()
	kept.Spec = mandatory.Spec
	return kept
}

func keepSchema(stored, mandatory *flowcontrolv1.FlowSchema) *flowcontrolv1.FlowSchema {
	kept := stored.DeepCopy()
	kept.Spec = mandatory.Spec
	return kept
}

// withMandatory returns the stored objects and the mandatory ones, which apply even if they are not stored.
func withMandatory[T metav1.Object](stored, mandatory []T, keep func(stored, mandatory T) T) []T {
	all := slices.Clone(stored)
	for _, m := range mandatory {
		i := slices.IndexFunc(all, func(o T) bool { return o.GetName() == m.GetName() })
		if i < 0 {
			all = append(all, m)
		} else {
			all[i] = keep(all[i], m)
		}
	}
	return all
}

// newLevel returns the level of an object, or nil if the object is invalid.
func newLevel(o *flowcontrolv1.PriorityLevelConfiguration) *level {
	exempt := o.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt
	l := &level{object: o, exempt: exempt, queuing: fq.QueuingConfig{Name: o.Name}}
	switch {
	case l.exempt:
		l.queuing.DesiredNumQueues = -1 // every request is dispatched at once
		return l
	case o.Spec.Limited == nil:
		return nil
	}
	if q := o.Spec.Limited.LimitResponse.Queuing; q != nil {
		l.queuing.DesiredNumQueues = int(q.Queues)
		l.queuing.QueueLengthLimit, l.queuing.HandSize = int(q.QueueLengthLimit), int(q.HandSize)
	}
	return l
}

// defaultShares is the default of nominalConcurrencyShares (K pkg/apis/flowcontrol/v1/defaults.go).
const defaultShares = 30

// shares returns the level's nominalConcurrencyShares. The default is 30, but 0 for the level exempt.
func (l *level) shares() int32 {
	if l.exempt {
		if e := l.object.Spec.Exempt; e != nil {
			return ptr.Deref(e.NominalConcurrencyShares, 0)
		}
		return 0
	}
	return ptr.Deref(l.object.Spec.Limited.NominalConcurrencyShares, defaultShares)
}

// waiting returns the number of one user's requests that may be served or wait: the seats, and the capacity of the
// queues of the user's hand.
func (l *level) waiting() int { return l.seats + max(l.queuing.HandSize, 1)*l.queuing.QueueLengthLimit }

// widest returns the maximum number of seats of one request (finishQueueSetReconfigsLocked: maxSeats).
func (l *level) widest() int {
	hand := max(l.queuing.HandSize, 1)
	return max(1, min(int(math.Ceil(float64(l.seats)*0.15)), l.seats/hand, maxWidth))
}

// classify returns the schema, the level and the flow of a request.
func (c *config) classify(a *authorization.Attributes) (s *flowcontrolv1.FlowSchema, l *level, flow string) {
	i := slices.IndexFunc(c.schemas, func(s *flowcontrolv1.FlowSchema) bool { return matches(&s.Spec, a) })
	if i < 0 { // a user in neither system:authenticated nor system:unauthenticated
		i = slices.IndexFunc(c.schemas, func(s *flowcontrolv1.FlowSchema) bool {
			return s.Name == flowcontrolv1.FlowSchemaNameCatchAll
		})
	}
	s = c.schemas[i]
	if m := s.Spec.DistinguisherMethod; m != nil {
		switch m.Type {
		case flowcontrolv1.FlowDistinguisherMethodByUserType:
			flow = a.User.Name
		case flowcontrolv1.FlowDistinguisherMethodByNamespaceType:
			flow = a.Namespace
		}
	}
	return s, c.levels[s.Spec.PriorityLevelConfiguration.Name], flow
}
