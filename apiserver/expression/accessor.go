package expression

import (
	"github.com/google/cel-go/cel"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
)

// Role is the role of an expression. It determines the type of its value, and the variables that it may use.
type Role uint8

// The roles.
const (
	// Condition is a match condition of a webhook or policy.
	Condition Role = iota
	// Variable is a variable of a policy.
	Variable
	// Validation is a validation of a policy.
	Validation
	// Message is the message of a failed validation.
	Message
	// Annotation is the value of an audit annotation.
	Annotation
	// ApplyConfiguration is a mutation of this type.
	ApplyConfiguration
	// JSONPatch is a mutation of this type.
	JSONPatch
)

// String returns the name of the role.
func (r Role) String() string {
	return [...]string{
		"match condition", "variable", "validation", "message", "audit annotation", "apply configuration", "JSON patch",
	}[r]
}

var returned = [...][]*cel.Type{
	Condition:          {cel.BoolType},
	Variable:           {cel.AnyType, cel.DynType},
	Validation:         {cel.BoolType},
	Message:            {cel.StringType},
	Annotation:         {cel.StringType, cel.NullType},
	ApplyConfiguration: (&patch.ApplyConfigurationCondition{}).ReturnTypes(),
	JSONPatch:          (&patch.JSONPatchCondition{}).ReturnTypes(),
}

// declares returns the declarations for expressions of the role. params reports whether the policy has params (M-06).
// For audit annotations an authorizer is declared, although it has no value (M-34).
func (r Role) declares(params bool) declared {
	return declared{
		HasParams: params, HasAuthorizer: r != Message, HasPatchTypes: r == ApplyConfiguration || r == JSONPatch,
	}
}

// accessor is an expression in the form that upstream's packages require. name is the name of a condition, a variable
// or an audit annotation.
type accessor struct {
	role             Role
	name, expression string
}

// GetExpression implements plugincel.ExpressionAccessor.
func (a *accessor) GetExpression() string { return a.expression }

// GetName implements plugincel.NamedExpressionAccessor.
func (a *accessor) GetName() string { return a.name }

// ReturnTypes implements plugincel.ExpressionAccessor.
func (a *accessor) ReturnTypes() []*cel.Type { return returned[a.role] }

var _ plugincel.NamedExpressionAccessor = (*accessor)(nil)
