package render

import (
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// decodedFactor and encodedFactor are the bytes of memory that a response needs for each byte of its objects' JSON.
// decodedFactor is for objects that are decoded together, as in a write (package endpoints). encodedFactor is for
// objects that are encoded one by one, which takes the response and a copy.
const decodedFactor, encodedFactor = 20, 4

// Cost estimates the memory that a response with these objects needs. Cached bytes need none.
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
