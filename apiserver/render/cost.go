package render

import (
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// The memory of a response that is made before it is sent, for each byte of its objects: those that are decoded
// together, as for a write (package endpoints), and those that are encoded one by one, of which the response and a copy
// remain.
const decodedFactor, encodedFactor = 20, 4

// Cost estimates the memory that a response with these objects needs. Cached bytes that are sent as they are need none.
func (x *Rendering) Cost(objs []*storage.Object) int64 {
	size := SizeOf(objs)
	switch {
	case x.Format.Media == codec.MediaYAML:
		return decodedFactor * size
	case x.plain() && x.Ready(objs), x.MetadataOnly() && x.partial(x.Format.As):
		if x.Format.Pretty {
			return encodedFactor * size
		}
		return 0
	case x.binaryList(), x.rowByRow():
		return encodedFactor * size
	}
	return decodedFactor * size
}
