package webhook

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

const (
	// MaxBody is the maximum size of a response in bytes. Kubernetes has none. A JSON patch that replaces an object of
	// 3 MiB takes 4 MiB in base64. A batch for a conversion has 4 MiB and one more object, and may get more fields.
	MaxBody = 8 << 20
	// small is the maximum size of a response that does not wait for others. maxLarge is the number of larger ones that
	// are read or used at the same time.
	small, maxLarge = 1 << 20, 8
)

// errTooLarge is the error for a response of more than MaxBody bytes.
var errTooLarge = fmt.Errorf("the response is larger than %d MiB", MaxBody>>20)

// read reads the body of a response. The caller must call release when it no longer needs the body.
func (c *Clients) read(r *http.Response) (body []byte, release func(), err error) {
	release = func() {}
	if r.ContentLength > MaxBody {
		return nil, release, errTooLarge
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r.Body, small); err == io.EOF {
		return b.Bytes(), release, nil
	} else if err != nil {
		return nil, release, err
	}
	if err := c.large.Acquire(r.Request.Context(), 1); err != nil {
		return nil, release, err
	}
	release = func() { c.large.Release(1) }
	b.Grow(int(max(r.ContentLength-small, 0)) + bytes.MinRead) // so that it does not grow at the end
	_, err = b.ReadFrom(io.LimitReader(r.Body, MaxBody+1-small))
	if err == nil && b.Len() > MaxBody {
		err = errTooLarge
	}
	return b.Bytes(), release, err
}
