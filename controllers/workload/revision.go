package workload

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/apimachinery/pkg/util/rand"
)

// The history of the templates of StatefulSets and DaemonSets, in ControllerRevisions (K pkg/controller/history), is
// pure: arguments are not changed, and the same template gives the same data, byte for byte, and so the same hash.

// RevisionData returns the content of a template's revision: a patch that restores the template (stateful_set_utils.go,
// daemon/update.go: getPatch).
func RevisionData(t *corev1.PodTemplateSpec) []byte {
	var template map[string]any
	data, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(data, &template)
	}
	if err == nil {
		template["$patch"] = "replace"
		data, err = json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	}
	if err != nil {
		panic(fmt.Sprintf("workload: encoding a template: %v", err)) // one that was decoded can be encoded
	}
	return data
}

// NewRevision returns a revision of an owner's template, without a name (history.NewControllerRevision).
func NewRevision(owner Object, t *corev1.PodTemplateSpec, data []byte, number int64) *appsv1.ControllerRevision {
	r := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), Labels: map[string]string{}, Annotations: maps.Clone(owner.GetAnnotations()),
			OwnerReferences: []metav1.OwnerReference{ControllerRef(owner)},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: number,
	}
	maps.Copy(r.Labels, t.Labels)
	return r
}

// RevisionTemplate returns the template of a revision.
func RevisionTemplate(r *appsv1.ControllerRevision) (*corev1.PodTemplateSpec, error) {
	var patch struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(r.Data.Raw, &patch); err != nil {
		return nil, fmt.Errorf("decoding revision %s: %w", r.Name, err)
	}
	return &patch.Spec.Template, nil
}

// HoldsRevision reports whether the revision has the data.
func HoldsRevision(r *appsv1.ControllerRevision, data []byte) bool {
	if bytes.Equal(r.Data.Raw, data) {
		return true
	}
	var a, b any
	return json.Unmarshal(r.Data.Raw, &a) == nil && json.Unmarshal(data, &b) == nil &&
		reflect.DeepEqual(pruned(a), pruned(b))
}

// pruned returns JSON without nulls, which older versions wrote for unset times.
func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
			} else {
				v[k] = pruned(e)
			}
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return v
}

// RevisionHashLabel is the label of a StatefulSet's revisions with their hash (history.ControllerRevisionHashLabel).
const RevisionHashLabel = "controller.kubernetes.io/hash"

// mostName is the maximum length of the owner's name in the name of a revision.
const mostName = 223

// RevisionName returns the name of an owner's revision with a hash (I-08).
func RevisionName(owner, hash string) string { return owner[:min(len(owner), mostName)] + "-" + hash }

// SortRevisions sorts a history, oldest first (history.SortControllerRevisions).
func SortRevisions(list []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	return slices.SortedFunc(slices.Values(list), func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(
			cmp.Compare(a.Revision, b.Revision), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// NextRevision returns the number of the revision after a sorted history.
func NextRevision(sorted []*appsv1.ControllerRevision) int64 {
	if len(sorted) == 0 {
		return 1
	}
	return sorted[len(sorted)-1].Revision + 1
}

// ExcessRevisions returns the oldest revisions beyond the limit of a sorted history, among those that aren't live
// (statefulset: truncateHistory; daemon: cleanupHistory).
func ExcessRevisions(
	sorted []*appsv1.ControllerRevision, limit int, live func(*appsv1.ControllerRevision) bool,
) []*appsv1.ControllerRevision {
	past := slices.DeleteFunc(slices.Clone(sorted), live)
	return past[:max(0, len(past)-max(0, limit))]
}

// RevisionHash returns the hash of data, for StatefulSets. collisions distinguishes revisions with the same hash
// (history.HashControllerRevision).
func RevisionHash(data []byte, collisions int32) string {
	h := fnv.New32()
	h.Write(data)
	h.Write([]byte(strconv.Itoa(int(collisions))))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// TemplateHash returns the hash of a template, for DaemonSets and Deployments, in a form that contains no words.
// collisions distinguishes templates with the same hash; nil if there were none (K pkg/controller/controller_utils.go:
// ComputeHash).
func TemplateHash(t *corev1.PodTemplateSpec, collisions *int32) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%v", dump.ForHash(*t))
	if collisions != nil {
		var b [8]byte
		binary.LittleEndian.PutUint32(b[:], uint32(*collisions))
		h.Write(b[:])
	}
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}
