package customresource

import (
	"fmt"
	"maps"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// sameObject returns an error if a converted object has another name, namespace or UID.
func sameObject(in, out *unstructured.Unstructured) error {
	for _, c := range []struct {
		what      string
		was, says any
	}{
		{"name", in.GetName(), out.GetName()},
		{"namespace", in.GetNamespace(), out.GetNamespace()},
		{"UID", in.GetUID(), out.GetUID()},
	} {
		if c.was != c.says {
			return fmt.Errorf("must have the same %s: %v != %v", c.what, c.was, c.says)
		}
	}
	return nil
}

// keepMeta restores the metadata of a converted object, because a conversion may change only labels and annotations.
func keepMeta(in, out *unstructured.Unstructured) error {
	said, found := out.Object["metadata"]
	if !found {
		return fmt.Errorf("missing metadata in converted object")
	}
	new, ok := said.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", said)
	}
	kept := map[string]any{}
	if was, found := in.Object["metadata"]; found {
		if kept, ok = runtime.DeepCopyJSONValue(was).(map[string]any); !ok {
			return fmt.Errorf("invalid metadata of type %T in input object", was)
		}
	}
	for _, name := range []string{"labels", "annotations"} {
		if new[name] == nil {
			delete(kept, name)
			continue
		}
		texts, err := textsOf(new, name, "converted")
		if err != nil {
			return err
		}
		if old, err := textsOf(kept, name, "original"); err != nil {
			return err
		} else if !maps.Equal(old, texts) {
			if err := validTexts(name, texts); err != nil {
				return err
			}
		}
		kept[name] = new[name]
	}
	out.Object["metadata"] = kept
	return nil
}

// textsOf decodes labels or annotations.
func textsOf(meta map[string]any, name, whose string) (map[string]string, error) {
	if meta[name] == nil {
		return nil, nil
	}
	m, ok := meta[name].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("invalid metadata.%s of type %T in %s object", name, meta[name], whose)
	}
	texts := make(map[string]string, len(m))
	for k, v := range m {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("metadata.%s[%s] must be a string, but is %T in %s object", name, k, v, whose)
		}
		texts[k] = text
	}
	return texts, nil
}

func validTexts(name string, texts map[string]string) error {
	var errs field.ErrorList
	if name == "labels" {
		errs = v1validation.ValidateLabels(texts, field.NewPath("metadata", "labels"))
	} else {
		errs = apivalidation.ValidateAnnotations(texts, field.NewPath("metadata", "annotation"))
	}
	if len(errs) == 0 {
		return nil
	}
	return errs.ToAggregate()
}
