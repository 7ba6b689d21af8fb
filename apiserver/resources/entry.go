package resources

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// The types of entries, which package entry declares for the packages of the groups.
type (
	// Resource is one entry of the table: everything the handlers must know of a served group-version-resource.
	Resource = entry.Resource
	// Strategy is what differs between kinds on a write.
	Strategy = entry.Strategy
	// Subresource is one path below an object.
	Subresource = entry.Subresource
	// ScalePaths say where the numbers of a Scale stand.
	ScalePaths = entry.ScalePaths
	// Deletion says how objects of a kind are deleted.
	Deletion = entry.Deletion
	// Table is how objects of a kind are printed for kubectl get.
	Table = entry.Table
	// Column is a column's definition.
	Column = entry.Column
	// Generation says which changes bump metadata.generation.
	Generation = entry.Generation
	// Action says how a subresource is carried out.
	Action = entry.Action
	// ConversionError says that a definition's conversion strategy failed.
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

// Scheme knows the types of the versions that can be served (entry.Scheme).
func Scheme() *runtime.Scheme { return entry.Scheme() }
