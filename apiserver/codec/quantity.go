package codec

import (
	"bytes"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// A quantity of a few bytes may take minutes to parse: 1e-999999999 is a number with a billion digits. No sensible
// quantity has more digits, or more digits in its exponent, than these.
const (
	maxQuantity = 256
	maxExponent = 4
)

// ErrQuantity is the error for such a quantity.
var ErrQuantity = errors.New("quantities must not have more than 256 characters, or more than 4 digits in an exponent")

// CheckQuantities rejects a JSON or protobuf body with such a number in the place of a quantity. If there is one in any
// place, decode is called with a body that has other strings instead, which are no quantities. Every error of decode is
// returned, since decode may end before it comes to a quantity.
func CheckQuantities(b Body, decode func(Body) error) error {
	data, found := bytes.Clone(b.Bytes), false
	if b.Media == MediaProtobuf {
		for _, content := range fields(data) {
			found = replaceHuge(content) || found
		}
	} else {
		from := 0
		for at, mark := range jsonscan.Marks(data) {
			if token := bytes.TrimSpace(data[from:at]); mark != ':' && replaceHuge(token) {
				token[0], token[len(token)-1] = '"', '"'
				found = true
			}
			from = at + 1
		}
	}
	if !found {
		return nil
	}
	b.Bytes = data
	err := decode(b)
	switch {
	case errors.Is(err, resource.ErrSuffix):
		return ErrQuantity
	case runtime.IsStrictDecodingError(err):
		return nil
	}
	return err
}

// replaceHuge replaces a number that takes too long to be parsed as a quantity by letters, which are also base64.
func replaceHuge(token []byte) bool {
	text := token
	if bytes.IndexByte(token, '\\') >= 0 { // an apply decodes strings before it parses quantities
		var s string
		if json.Unmarshal(token, &s) == nil {
			text = []byte(s)
		}
	}
	text = bytes.TrimSpace(bytes.Trim(text, `"`))
	if len(bytes.TrimLeft(text, "0123456789.+-eEinumkKMGTP")) > 0 {
		return false
	}
	i := bytes.LastIndexAny(text, "eE")
	huge := len(text) > maxQuantity || i >= 0 && len(bytes.TrimLeft(text[i+1:], "+-0")) > maxExponent
	if huge {
		copy(token, bytes.Repeat([]byte("e"), len(token)))
	}
	return huge
}
