package webhook

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// MaxBody is the maximum size of a response, in bytes. Kubernetes has none. A JSON patch that replaces an object of 3
// MiB takes 4 MiB in base64; a conversion returns objects of 4 MiB and one more, and may add fields to them.
const MaxBody = 8 << 20

// errTooLarge: a response has more than MaxBody bytes.
var errTooLarge = fmt.Errorf("the response is larger than %d MiB", MaxBody>>20)

// read reads the body of a response.
func read(r *http.Response) ([]byte, error) {
	if r.ContentLength > MaxBody {
		return nil, errTooLarge
	}
	var b bytes.Buffer
	b.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead) // so that it does not grow at the end
	n, err := b.ReadFrom(io.LimitReader(r.Body, MaxBody+1))
	if err == nil && n > MaxBody {
		return nil, errTooLarge
	}
	return b.Bytes(), err
}
