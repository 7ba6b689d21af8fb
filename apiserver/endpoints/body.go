package endpoints

import (
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/codec"
)

// bodyFactor is the number of bytes of memory that a write needs for each byte of its body and of the stored object. It
// is yamlFactor for a body in YAML. valueCost is that for each value in them. BenchmarkWriteMemory measures the
// allocations of a create: 3 to 33 bytes for a byte of JSON, 28 to 130 for a byte of YAML (about a third is live at a
// time), 2 KB for an empty container (two values).
const bodyFactor, yamlFactor, valueCost = 20, 40, 1 << 10

// writeCost estimates the memory of a write. It exceeds a user's share only if the body's length alone does.
func (a *API) writeCost(req *request) int64 {
	body, factor := codec.Body{Bytes: req.info.Body, Media: patchMedia(req.r)}, bodyFactor
	if strings.HasSuffix(body.Media, "yaml") {
		factor = yamlFactor
	}
	cost, more := int64(factor*len(body.Bytes)), valueCost*codec.CountValues(body)
	if req.Name != "" && req.Resource.Collection != "" && req.verb != "delete" {
		if stored, _ := a.Registry.Cache.Get(req.Key(a.Registry.Root)); stored != nil {
			more += bodyFactor*len(stored.JSON) + valueCost*codec.CountValues(codec.Body{Bytes: stored.JSON})
		}
	}
	return max(cost, min(cost+int64(more), a.Memory.Share()))
}
