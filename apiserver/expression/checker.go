package expression

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Checker compiles the expressions of a webhook configuration or policy when it is written (M-05; K
// pkg/apis/admissionregistration/validation). It is not safe for concurrent use.
type Checker struct {
	params bool
	old    Texts
	// composition is nil if the expressions may not use variables.
	composition *composition
}

// Texts are the expressions of an object by role.
type Texts map[Role]map[string]bool

// Add adds an expression.
func (t Texts) Add(r Role, expression string) {
	if t[r] == nil {
		t[r] = map[string]bool{}
	}
	t[r][expression] = true
}

// NewChecker returns a Checker for webhooks. old are the expressions of the replaced object. They may use the features
// of stored expressions. New ones may only use features that the previous minor version has, too (M-06).
func NewChecker(old Texts) *Checker { return &Checker{old: old} }

// Policy returns a Checker for a policy. params reports whether it has a paramKind. Match conditions can't use the
// policy's variables. The other expressions can if variables is greater than zero or always is set.
func (c *Checker) Policy(params bool, variables int, always bool) *Checker {
	out := &Checker{params: params, old: c.old}
	if variables > 0 || always {
		out.composition = compositionFor(params, variables)
	}
	return out
}

// Variable compiles a variable and declares it for the expressions after it.
func (c *Checker) Variable(name, expression string, at *field.Path) *field.Error {
	return fieldError(c.composition.add(name, expression, c.mode(Variable, expression)).Error, expression, at)
}

// Check compiles an expression and returns the error for the field, or nil.
func (c *Checker) Check(r Role, expression string, at *field.Path) *field.Error {
	a, mode := &accessor{role: r, expression: expression}, c.mode(r, expression)
	if c.composition == nil || r == Condition {
		return fieldError(plain(a, c.params, mode).Error, expression, at)
	}
	return fieldError(c.composition.compile(a, mode).Error, expression, at)
}

func (c *Checker) mode(r Role, expression string) environment.Type {
	if c.old[r][expression] {
		return environment.StoredExpressions
	}
	return environment.NewExpressions
}

// fieldError returns the error of a field (K validation.go: convertCELErrorToValidationError).
func fieldError(err *apiservercel.Error, expression string, at *field.Path) *field.Error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, apiservercel.ErrInvalid):
		return field.Invalid(at, expression, err.Detail)
	}
	return field.InternalError(at, err)
}
