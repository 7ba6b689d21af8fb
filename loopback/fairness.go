package loopback

import (
	"context"
	"encoding/json"
	"iter"
	"maps"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/controllers/fairness"
	"github.com/kubecascade/kubecascade/controllers/reconcile"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// Fairness is fairness.API.
type Fairness struct {
	// Producer and Consumer write as the field managers of those names.
	Producer, Consumer *registry.Loopback
	Cache              *cache.Cache
}

// flowSchemas and priorityLevels are the collections.
const flowSchemas, priorityLevels = "flowschemas", "prioritylevelconfigurations"

func (f *Fairness) path(plural, sub, name string) registry.Path {
	return registry.Path{
		Resource: f.Producer.Types().Lookup(flowcontrolv1.GroupName, "v1", plural), Subresource: sub, Name: name,
	}
}

// Follow implements fairness.API.
func (f *Fairness) Follow(ctx context.Context, sink func(string)) error {
	return feed{cache: f.Cache, first: flowSchemas, collections: []string{flowSchemas, priorityLevels},
		begin: func(state iter.Seq[*storage.Object]) {
			for o := range state {
				sink(o.Meta.Name)
			}
		},
		each: func(e *cache.Event) error {
			if e.Collection == flowSchemas {
				sink(e.Object.Meta.Name)
				return nil
			}
			if e.Type == cache.Modified {
				return nil
			}
			snap, err := f.Cache.Snapshot(flowSchemas, 0)
			if err != nil {
				return err
			}
			snap.Ascend("", "", func(o *storage.Object) bool {
				sink(o.Meta.Name)
				return true
			})
			return nil
		},
	}.follow(ctx)
}

// Changes implements fairness.API: deletions and changes of the spec.
func (f *Fairness) Changes() reconcile.Changes {
	return &Changes{Cache: f.Cache, Collections: []string{flowSchemas, priorityLevels},
		Matters: func(e *cache.Event) bool {
			return e.Type != cache.Modified || e.Prev == nil || e.Prev.Meta.Generation != e.Object.Meta.Generation ||
				!maps.Equal(annotations(e.Prev), annotations(e.Object))
		},
	}
}

// annotations are those of an object.
func annotations(o *storage.Object) map[string]string {
	var v struct {
		Metadata struct{ Annotations map[string]string }
	}
	if json.Unmarshal(o.JSON, &v) != nil {
		return nil
	}
	return v.Metadata.Annotations
}

// Schemas implements fairness.API.
func (f *Fairness) Schemas() ([]*flowcontrolv1.FlowSchema, error) {
	return decoded[flowcontrolv1.FlowSchema](f.Cache, flowSchemas)
}

// Levels implements fairness.API.
func (f *Fairness) Levels() ([]*flowcontrolv1.PriorityLevelConfiguration, error) {
	return decoded[flowcontrolv1.PriorityLevelConfiguration](f.Cache, priorityLevels)
}

// decoded returns a collection. An error means that an object can't be decoded.
func decoded[T any](c *cache.Cache, collection string) (all []*T, err error) {
	snap, err := c.Snapshot(collection, 0)
	if err != nil {
		return nil, err
	}
	snap.Ascend("", "", func(o *storage.Object) bool {
		var v *T
		v, err = typed[T](o, o.Err)
		all = append(all, v)
		return err == nil
	})
	return all, err
}

// Schema implements fairness.API.
func (f *Fairness) Schema(name string) (*flowcontrolv1.FlowSchema, error) {
	o, _ := f.Cache.Get(f.Producer.Key(f.path(flowSchemas, "", "").Resource, "", name))
	if o == nil {
		return nil, nil
	}
	return typed[flowcontrolv1.FlowSchema](o, o.Err)
}

// HasLevel implements fairness.API.
func (f *Fairness) HasLevel(name string) bool {
	o, _ := f.Cache.Get(f.Producer.Key(f.path(priorityLevels, "", "").Resource, "", name))
	return o != nil
}

// ApplyStatus implements fairness.API.
func (f *Fairness) ApplyStatus(ctx context.Context, s *flowcontrolv1.FlowSchema) error {
	document, err := json.Marshal(map[string]any{
		"apiVersion": flowcontrolv1.SchemeGroupVersion.String(), "kind": "FlowSchema",
		"metadata": map[string]any{"name": s.Name}, "status": s.Status,
	})
	if err == nil {
		_, err = f.Consumer.Apply(ctx, f.path(flowSchemas, "status", s.Name), document)
	}
	return err
}

// plural is the collection of an object.
func plural(o fairness.Object) string {
	if _, ok := o.(*flowcontrolv1.FlowSchema); ok {
		return flowSchemas
	}
	return priorityLevels
}

// Create implements fairness.API.
func (f *Fairness) Create(ctx context.Context, o fairness.Object) error {
	_, err := f.Producer.Create(ctx, f.path(plural(o), "", ""), o)
	return err
}

// Update implements fairness.API.
func (f *Fairness) Update(ctx context.Context, o fairness.Object) error {
	_, err := f.Producer.Update(ctx, f.path(plural(o), "", o.GetName()), o)
	return err
}

// Delete implements fairness.API.
func (f *Fairness) Delete(ctx context.Context, o fairness.Object) error {
	uid := o.GetUID()
	_, err := f.Producer.Delete(
		ctx, f.path(plural(o), "", o.GetName()), &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}},
	)
	return err
}
