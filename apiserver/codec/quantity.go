package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
	"github.com/kubecascade/kubecascade/internal/jsonscan"
)

// ErrQuantity is the error for a quantity that takes too long to parse.
var ErrQuantity = errors.New("quantities must not have more than 256 characters, or more than 4 digits in an exponent")

// CheckQuantities returns ErrQuantity for a JSON or protobuf body with a quantity that takes too long to parse. In a
// copy of the body, it replaces each number that would take too long by a string that is not a quantity. If there are
// any, it calls decode with the copy, which fails at a quantity. It returns other errors of decode, too, because decode
// may stop at a string in a field of numbers before it reaches a quantity.
func CheckQuantities(b Body, decode func(Body) error) error {
	data, found := bytes.Clone(b.Bytes), false
	if b.Media == MediaProtobuf {
		for _, content := range fields(data) {
			found = replaceLong(content, string(content)) || found
		}
	} else {
		from := 0
		for at, mark := range jsonscan.Marks(data) {
			if token := bytes.TrimSpace(data[from:at]); mark != ':' && replaceLong(token, textOf(token)) {
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

// replaceLong replaces a number that takes too long to parse as a quantity by letters, which are also valid base64.
func replaceLong(token []byte, text string) bool {
	if !invalid.LongNumber(text) {
		return false
	}
	copy(token, bytes.Repeat([]byte("e"), len(token)))
	return true
}

// textOf returns a JSON string or number as it is parsed: unescaped, and without spaces around it.
func textOf(token []byte) string {
	var s string
	if bytes.IndexByte(token, '\\') < 0 || json.Unmarshal(token, &s) != nil {
		s = string(bytes.Trim(token, `"`))
	}
	return strings.TrimSpace(s)
}
