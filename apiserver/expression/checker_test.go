package expression

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
)

// TestOldExpressionsCompileAsStored: an expression that the old object has in the same role is compiled as a stored
// one, and others as new ones (M-06). In v1.36 the two environments have the same libraries.
func TestOldExpressionsCompileAsStored(t *testing.T) {
	old := Texts{}
	old.Add(Validation, "true")
	c := NewChecker(old).Policy(false, 0, false)
	for _, w := range []struct {
		role Role
		text string
		want environment.Type
	}{
		{Validation, "true", environment.StoredExpressions},
		{Validation, "false", environment.NewExpressions},
		{Condition, "true", environment.NewExpressions},
	} {
		if got := c.mode(w.role, w.text); got != w.want {
			t.Errorf("%v %s: %s", w.role, w.text, got)
		}
	}
	if c := NewChecker(nil); c.mode(Condition, "true") != environment.NewExpressions {
		t.Error("a new object has a stored expression")
	}
}

// TestSharedVariables: policies without variables share a composition, to which the variables of other policies are not
// added.
func TestSharedVariables(t *testing.T) {
	at := field.NewPath("spec")
	with := NewChecker(nil).Policy(false, 1, true)
	if err := with.Variable("a", "1", at); err != nil {
		t.Fatal(err)
	}
	if err := with.Check(Validation, "variables.a == 1", at); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := NewChecker(nil).Policy(false, 0, true).Check(Validation, "variables.a == 1", at); err == nil {
			t.Error("a policy has the variables of another one")
		}
	}
}
