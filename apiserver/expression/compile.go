package expression

import (
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// compile compiles an expression. Its errors have upstream's messages (M-05; ASC compile.go: CompileCELExpression).
func compile(env *cel.Env, a *accessor) plugincel.CompilationResult {
	program, output, err := programOf(env, a)
	if err != nil {
		return plugincel.CompilationResult{Error: err, ExpressionAccessor: a}
	}
	return plugincel.CompilationResult{Program: program, ExpressionAccessor: a, OutputType: output}
}

func programOf(env *cel.Env, a *accessor) (cel.Program, *cel.Type, *apiservercel.Error) {
	ast, issues := env.Compile(a.expression)
	if issues != nil {
		return nil, nil, &apiservercel.Error{
			Type: apiservercel.ErrorTypeInvalid, Detail: "compilation failed: " + issues.String(),
			Cause: apiservercel.NewCompilationError(issues),
		}
	}
	output := ast.OutputType()
	if message := mismatch(returned[a.role], output); message != "" {
		return nil, nil, &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: message}
	}
	program, err := env.Program(ast, cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return nil, nil, internal("program instantiation failed: " + err.Error())
	}
	return program, output, nil
}

// mismatch returns the error message if the type of an expression is not allowed, otherwise an empty string.
func mismatch(allowed []*cel.Type, output *cel.Type) string {
	fits := func(t *cel.Type) bool { return output.IsExactType(t) || cel.AnyType.IsExactType(t) }
	switch {
	case slices.ContainsFunc(allowed, fits):
		return ""
	case len(allowed) == 1:
		return fmt.Sprintf("must evaluate to %v but got %v", allowed[0], output)
	}
	return fmt.Sprintf("must evaluate to one of %v but got %v", allowed, output)
}

func internal(detail string) *apiservercel.Error {
	return &apiservercel.Error{Type: apiservercel.ErrorTypeInternal, Detail: detail}
}

// plain compiles an expression that may not use the variables of a policy.
func plain(a *accessor, params bool, mode environment.Type) plugincel.CompilationResult {
	set, err := environmentOf(a.role.declares(params))
	if err != nil {
		return misconfigured(a, err)
	}
	env, err := set.Env(mode)
	if err != nil {
		return misconfigured(a, err)
	}
	return compile(env, a)
}

func misconfigured(a *accessor, err error) plugincel.CompilationResult {
	return plugincel.CompilationResult{
		Error: internal(fmt.Sprintf("unexpected error loading CEL environment: %v", err)), ExpressionAccessor: a,
	}
}
