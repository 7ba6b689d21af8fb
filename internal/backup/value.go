package backup

import "bytes"

// Encoding is the format of a stored value.
type Encoding string

// The formats in which kube-apiserver stores objects (K cmd/kube-apiserver: --storage-media-type).
const (
	JSON     Encoding = "json"
	Protobuf Encoding = "protobuf"
	CBOR     Encoding = "cbor"
	// Encrypted values are of any of these formats; the provider is known without a key.
	Encrypted Encoding = "encrypted"
	// Other values are in no format of kube-apiserver.
	Other Encoding = "other"
)

// The beginnings of values (AM pkg/runtime/serializer; AS pkg/server/options/encryptionconfig/config.go).
var prefixes = []struct {
	prefix string
	is     Encoding
}{
	{"k8s\x00", Protobuf}, {"k8s:enc:", Encrypted}, {"\xd9\xd9\xf7", CBOR}, {"{", JSON},
}

// EncodingOf returns a value's format by its beginning.
func EncodingOf(value []byte) Encoding {
	for _, p := range prefixes {
		if bytes.HasPrefix(value, []byte(p.prefix)) {
			return p.is
		}
	}
	return Other
}
