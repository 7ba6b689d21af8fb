package backup

import (
	"bytes"
	"fmt"
)

// Encoding is the format of a stored value.
type Encoding string

// The formats in which kube-apiserver stores objects (K cmd/kube-apiserver: --storage-media-type).
const (
	JSON     Encoding = "json"
	Protobuf Encoding = "protobuf"
	CBOR     Encoding = "cbor"
	// Encrypted values are of any of these formats; the provider is known without a key.
	Encrypted Encoding = "encrypted"
	// Other values are not what kube-apiserver stores.
	Other Encoding = "other"
)

// The beginnings of values (AM pkg/runtime/serializer; AS pkg/server/options/encryptionconfig/config.go).
var prefixes = []struct {
	prefix string
	is     Encoding
}{
	{"k8s\x00", Protobuf}, {encryptedPrefix, Encrypted}, {"\xd9\xd9\xf7", CBOR}, {"{", JSON},
}

const encryptedPrefix = "k8s:enc:"

// EncodingOf returns a value's format by its beginning.
func EncodingOf(value []byte) Encoding {
	for _, p := range prefixes {
		if bytes.HasPrefix(value, []byte(p.prefix)) {
			return p.is
		}
	}
	return Other
}

// maxProvider limits what is read as the names of a provider and of a key.
const maxProvider = 256

// encryptedBy says by what a value was encrypted: "aescbc, key key1". Its prefix is k8s:enc:aescbc:v1:key1: with the
// name of the provider, its version, and for local ones the name of the key.
func encryptedBy(value []byte) string {
	rest := value[len(encryptedPrefix):]
	parts := bytes.SplitN(rest[:min(len(rest), maxProvider)], []byte(":"), 4)
	if len(parts) < 4 {
		return "an unknown provider"
	}
	return fmt.Sprintf("%q, key %q", parts[0], parts[2])
}
