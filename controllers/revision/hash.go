package revision

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/dump"
	"k8s.io/apimachinery/pkg/util/rand"
)

// Hash is that of data, for StatefulSets. collisions tells revisions apart whose hashes are the same
// (history.HashControllerRevision).
func Hash(data []byte, collisions int32) string {
	h := fnv.New32()
	h.Write(data)
	h.Write([]byte(strconv.Itoa(int(collisions))))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(h.Sum32()), 10))
}

// TemplateHash is that of a template, for DaemonSets and Deployments, in a form that is no word. collisions
// tells templates apart whose hashes are the same; nil if there were none
// (K pkg/controller/controller_utils.go: ComputeHash).
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
