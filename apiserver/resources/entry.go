package resources

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// The types of entries, which package entry declares for the packages of the groups.
type (
	// Object is a decoded object.
	Object = entry.Object
	// Resource is one entry of the table: all that handlers need to know of a served group-version-resource.
	Resource = entry.Resource
	// Served is the version that clients request.
	Served = entry.Served
	// Storage is how objects are stored.
	Storage = entry.Storage
	// CustomResource is what only the entries of custom resources have.
	CustomResource = entry.CustomResource
	// Selection holds the fields that field selectors support.
	Selection = entry.Selection
	// Strategy has the differences between kinds in writes.
	Strategy = entry.Strategy
	// Metadata are rules for metadata in which kinds differ.
	Metadata = entry.Metadata
	// Subresource is one subresource of a kind.
	Subresource = entry.Subresource
	// ScalePaths are the paths of the fields of a Scale.
	ScalePaths = entry.ScalePaths
	// Deletion says how objects of a kind are deleted.
	Deletion = entry.Deletion
	// Table is how objects of a kind are printed for kubectl get.
	Table = entry.Table
	// Column is a column's definition.
	Column = entry.Column
	// Generation says which changes bump metadata.generation.
	Generation = entry.Generation
	// Action is the type of a subresource.
	Action = entry.Action
	// ConversionError reports that the conversion of a custom resource failed.
	ConversionError = entry.ConversionError
)

// The rules for metadata.generation.
const (
	NoGeneration          = entry.NoGeneration
	SpecGeneration        = entry.SpecGeneration
	SpecOrAnnotations     = entry.SpecOrAnnotations
	AnyButMetaOrLabels    = entry.AnyButMetaOrLabels
	TemplateGeneration    = entry.TemplateGeneration
	CreateOnlyGeneration  = entry.CreateOnlyGeneration
	UpdateOnlyGeneration  = entry.UpdateOnlyGeneration
	CustomGeneration      = entry.CustomGeneration
	CustomWholeGeneration = entry.CustomWholeGeneration
	RootGeneration        = entry.RootGeneration
)

// The actions of subresources.
const (
	Status   = entry.Status
	Part     = entry.Part
	Scale    = entry.Scale
	ByHook   = entry.ByHook
	Unserved = entry.Unserved
)

// ScaleKind is the kind of the bodies of scale subresources (entry.ScaleKind).
var ScaleKind = entry.ScaleKind

// Scheme has the types of all versions that can be served (entry.Scheme).
func Scheme() *runtime.Scheme { return entry.Scheme() }
