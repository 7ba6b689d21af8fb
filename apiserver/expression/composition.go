package expression

import (
	"context"
	"sync"

	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// composition compiles the expressions of a policy, which may use the policy's variables. After the last variable is
// added, it is safe for concurrent use.
type composition struct {
	params    bool
	variables []plugincel.CompilationResult // in the order in which they were added

	mu   sync.Mutex // guards made
	made map[declared]*plugincel.CompositedCompiler
}

func newComposition(params bool) *composition {
	return &composition{params: params, made: map[declared]*plugincel.CompositedCompiler{}}
}

// without are the compositions of policies without variables, by whether the policy has params. All such policies share
// their environments, which are most of a policy's memory.
var without = map[bool]func() *composition{
	false: sync.OnceValue(func() *composition { return newComposition(false) }),
	true:  sync.OnceValue(func() *composition { return newComposition(true) }),
}

// compositionFor returns the composition of a policy before its variables are added.
func compositionFor(params bool, variables int) *composition {
	if variables == 0 {
		return without[params]()
	}
	return newComposition(params)
}

// add compiles a variable and declares it for the expressions after it, even if it does not compile (M-07).
func (c *composition) add(name, expression string, mode environment.Type) plugincel.CompilationResult {
	result := c.compile(&accessor{role: Variable, name: name, expression: expression}, mode)
	c.variables = append(c.variables, result)
	for _, made := range c.made {
		store(made, result)
	}
	return result
}

// compile compiles an expression.
func (c *composition) compile(a *accessor, mode environment.Type) plugincel.CompilationResult {
	composed, err := c.composed(a.role)
	if err != nil {
		return misconfigured(a, err)
	}
	env, err := composed.Env(mode)
	if err != nil {
		return misconfigured(a, err)
	}
	return compile(env, a)
}

// composed returns the environment of a role, with the variables added so far.
func (c *composition) composed(r Role) (*plugincel.CompositedCompiler, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := r.declares(c.params)
	if made := c.made[d]; made != nil {
		return made, nil
	}
	set, err := environmentOf(d)
	if err != nil {
		return nil, err
	}
	// Upstream declares the variables and then makes eight environments with and without the options (ASC
	// composition.go: NewCompositedCompiler). With this constructor, the caller makes the environments.
	made, err := plugincel.NewCompositedCompilerForTypeChecking(set)
	if err != nil {
		return nil, err
	}
	for _, v := range c.variables {
		store(made, v)
	}
	c.made[d] = made
	return made, nil
}

// store declares a compiled variable.
func store(to *plugincel.CompositedCompiler, variable plugincel.CompilationResult) {
	to.Compiler = compiled(variable)
	to.CompileAndStoreVariable(variable.ExpressionAccessor.(*accessor), declared{}, environment.StoredExpressions)
}

// compiled is a compiler that returns the result of another one.
type compiled plugincel.CompilationResult

// CompileCELExpression implements plugincel.Compiler.
func (c compiled) CompileCELExpression(
	plugincel.ExpressionAccessor, declared, environment.Type,
) plugincel.CompilationResult {
	return plugincel.CompilationResult(c)
}

// within returns a context in which expressions have the variables. Each is evaluated once (M-35).
func (c *composition) within(ctx context.Context) (plugincel.CompositionContext, error) {
	// The variables are the same in all environments.
	composed, err := c.composed(Validation)
	if err != nil {
		return nil, err
	}
	return composed.CreateContext(ctx), nil
}
