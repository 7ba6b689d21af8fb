package expression

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// declared has the variables and types of an environment besides object, oldObject, request and namespaceObject.
type declared = plugincel.OptionalVariableDeclarations

// always is the version that introduces the options of these environments. All servers are newer.
var always = version.MajorMinor(1, 0)

// shared has the environments without policies' variables: at most one for each value of declared. An environment takes
// memory, and few servers have policies, so it is made when it is first needed. Upstream's compilers make all eight
// (ASC compile.go: mustBuildEnvs).
var shared sync.Map // of declared to func() (*environment.EnvSet, error)

// environmentOf returns the shared environment.
func environmentOf(d declared) (*environment.EnvSet, error) {
	made, ok := shared.Load(d)
	if !ok {
		made, _ = shared.LoadOrStore(d, sync.OnceValues(func() (*environment.EnvSet, error) { return newEnvironment(d) }))
	}
	return made.(func() (*environment.EnvSet, error))()
}

// requestTypes returns the types of request and namespaceObject.
var requestTypes = sync.OnceValues(func() (request, namespace *apiservercel.DeclType) {
	return plugincel.BuildRequestType(), plugincel.BuildNamespaceType()
})

// newEnvironment returns an environment with upstream's declarations (ASC compile.go: createEnvForOpts).
func newEnvironment(d declared) (*environment.EnvSet, error) {
	request, namespace := requestTypes()
	options := []cel.EnvOption{
		cel.Variable(plugincel.ObjectVarName, cel.DynType),
		cel.Variable(plugincel.OldObjectVarName, cel.DynType),
		cel.Variable(plugincel.RequestVarName, request.CelType()),
		cel.Variable(plugincel.NamespaceVarName, namespace.CelType()),
	}
	if d.HasParams {
		options = append(options, cel.Variable(plugincel.ParamsVarName, cel.DynType))
	}
	if d.HasAuthorizer {
		options = append(options,
			cel.Variable(plugincel.AuthorizerVarName, library.AuthorizerType),
			cel.Variable(plugincel.RequestResourceAuthorizerVarName, library.ResourceCheckType))
	}
	with := []environment.VersionedOptions{
		{
			IntroducedVersion: always, EnvOptions: options, DeclTypes: []*apiservercel.DeclType{namespace, request},
		},
		environment.StrictCostOpt,
	}
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(with...)
	if err == nil && d.HasPatchTypes {
		// The resolver of patch types wraps the type provider of the environment that it extends.
		set, err = set.Extend(environment.VersionedOptions{
			IntroducedVersion: always,
			EnvOptions: []cel.EnvOption{
				common.ResolverEnvOption(&mutation.DynamicTypeResolver{}), environment.UnversionedLib(library.JSONPatch),
			},
		})
	}
	if err != nil {
		return nil, fmt.Errorf("environment misconfigured: %w", err)
	}
	return set, nil
}
