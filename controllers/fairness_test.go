package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var then, now = metav1.NewTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))

// TestDanglingFollowsExistenceOfLevel runs testdata/fairness/dangling: every line is a case, [STATUS/REASON] LEVEL, the
// stored condition if there is one, and whether the level is found or missing; the output is the condition, with a star
// if it is to be written.
func TestDanglingFollowsExistenceOfLevel(t *testing.T) {
	datadriven.RunTest(t, "testdata/fairness/dangling", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for line := range strings.SplitSeq(d.Input, "\n") {
			f := strings.Fields(line)
			s := &flowcontrolv1.FlowSchema{}
			s.Spec.PriorityLevelConfiguration.Name = "a"
			level := f[len(f)-1]
			if len(f) == 2 {
				status, reason, _ := strings.Cut(f[0], "/")
				c, _ := dangling(s, reason == "Found", then)
				c.Status = flowcontrolv1.ConditionStatus(status)
				s.Status.Conditions = []flowcontrolv1.FlowSchemaCondition{{Type: "Other"}, c}
			}
			c, changed := dangling(s, level == "found", now)
			star := ""
			if changed {
				star = " *"
			}
			fmt.Fprintf(&b, "%s: %s %s %q%s\n", line, c.Status, c.Reason, c.Message, star)
		}
		return b.String()
	})
}

// level makes a priority level of a name with the shares.
func level(name string, shares int32) *flowcontrolv1.PriorityLevelConfiguration {
	l := &flowcontrolv1.PriorityLevelConfiguration{}
	l.Name = name
	l.Spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
	l.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{NominalConcurrencyShares: &shares}
	if name == "exempt" {
		l.Spec.Type, l.Spec.Limited = flowcontrolv1.PriorityLevelEnablementExempt, nil
		l.Spec.Exempt = &flowcontrolv1.ExemptPriorityLevelConfiguration{NominalConcurrencyShares: &shares}
	}
	return l
}

// TestMandatoryPriorityLevelsAreRestored runs testdata/fairness/revise: every line is a case, NAME SHARES GENERATION
// ANNOTATION, of a stored priority level (- for no annotation). Every cluster has exempt with 0 shares and catch-all
// with 5, which are mandatory, and suggested with 10. The output is what is done.
func TestMandatoryPriorityLevelsAreRestored(t *testing.T) {
	k := flowLevels
	k.mandatory = []*flowcontrolv1.PriorityLevelConfiguration{level("exempt", 0), level("catch-all", 5)}
	k.suggested = []*flowcontrolv1.PriorityLevelConfiguration{level("suggested", 10)}
	datadriven.RunTest(t, "testdata/fairness/revise", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for line := range strings.SplitSeq(d.Input, "\n") {
			var name, annotation string
			var shares int32
			var generation int64
			if _, err := fmt.Sscan(line, &name, &shares, &generation, &annotation); err != nil {
				t.Fatal(err)
			}
			stored := level(name, shares)
			stored.Generation = generation
			if annotation != "-" {
				stored.Annotations = map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: annotation}
			}
			before := stored.DeepCopy()
			fmt.Fprintf(&b, "%s: %s\n", line, done(k, stored))
			if !equality.Semantic.DeepEqual(before, stored) {
				t.Errorf("%s: the stored object was changed", line)
			}
		}
		return b.String()
	})
}

func done(k kind[*flowcontrolv1.PriorityLevelConfiguration], stored *flowcontrolv1.PriorityLevelConfiguration) string {
	if unwanted(k, stored) {
		return "delete"
	}
	for i, all := range [][]*flowcontrolv1.PriorityLevelConfiguration{k.mandatory, k.suggested} {
		for _, want := range all {
			if want.Name != stored.Name {
				continue
			}
			revised, ok := revise(k, stored, want, i == 0)
			if !ok {
				return "leave"
			}
			return "update to " + shares(revised) + ", " + revised.Annotations[flowcontrolv1.AutoUpdateAnnotationKey]
		}
	}
	return "leave"
}

func shares(l *flowcontrolv1.PriorityLevelConfiguration) string {
	if l.Spec.Exempt != nil {
		return fmt.Sprint(*l.Spec.Exempt.NominalConcurrencyShares)
	}
	return fmt.Sprint(*l.Spec.Limited.NominalConcurrencyShares)
}
