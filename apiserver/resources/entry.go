package resources

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// The types of entries, which package entry declares for the packages of the groups.
type (
	Object          = entry.Object
	Resource        = entry.Resource
	Served          = entry.Served
	Storage         = entry.Storage
	CustomResource  = entry.CustomResource
	Strategy        = entry.Strategy
	Metadata        = entry.Metadata
	Subresource     = entry.Subresource
	ScalePaths      = entry.ScalePaths
	Table           = entry.Table
	Column          = entry.Column
	Action          = entry.Action
	ConversionError = entry.ConversionError
	Kubelets        = entry.Kubelets
	Backend         = entry.Backend
)

// The rules for metadata.generation of custom resources.
const (
	CustomGeneration      = entry.CustomGeneration
	CustomWholeGeneration = entry.CustomWholeGeneration
)

// The actions of subresources.
const (
	Status   = entry.Status
	Part     = entry.Part
	Scale    = entry.Scale
	ByHook   = entry.ByHook
	Proxied  = entry.Proxied
	Upgraded = entry.Upgraded
	Logged   = entry.Logged
)

// ScaleKind is the kind of the bodies of scale subresources (entry.ScaleKind).
var ScaleKind = entry.ScaleKind

// Scheme has the types of all versions that can be served (entry.Scheme).
func Scheme() *runtime.Scheme { return entry.Scheme() }
