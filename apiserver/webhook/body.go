package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/kubecascade/kubecascade/apiserver/budget"
)

const (
	// MaxBody is the maximum size of a response, in bytes. Kubernetes has none. A JSON patch that replaces an object of 3
	// MiB takes 4 MiB in base64; a conversion returns objects of 4 MiB and one more.
	MaxBody = 16 << 20
	// freeBody is how many bytes of a response are read without a claim of memory. Most responses have less.
	freeBody = 64 << 10
	// mediumBody is the size up to which responses are read many at a time. What was read of a response counts for
	// nothing while it waits for more, so it is small.
	mediumBody = 128 << 10
	// bodyMemory is how many bytes of memory a byte of a response takes: the buffer, which is up to twice as large, and
	// what is decoded.
	bodyMemory = 3
	// minMemory is the least memory for large responses: two hosts can send one of MaxBody at the same time.
	minMemory = 10 * MaxBody
)

var (
	// errTooLarge: a response has more than MaxBody bytes.
	errTooLarge = fmt.Errorf("the response is larger than %d MiB", MaxBody>>20)
	// errNoMemory: too many large responses come at the same time.
	errNoMemory = errors.New("no memory for a large response")
)

// Body is the body of a response. A large one counts against the memory for responses until Release.
type Body struct {
	Data  []byte
	lease *budget.Lease
}

// Release gives back the memory. The caller has finished with Data and with what is decoded of it. It may be called
// twice, and on nil.
func (b *Body) Release() {
	if b != nil {
		b.lease.Release()
	}
}

// read reads the body of a response of a host. Before it reads more than freeBody bytes, it claims memory for the next
// size, and waits for it within ctx. Hosts share the memory, so that one host's large responses delay mostly its own.
func (c *Clients) read(ctx context.Context, host string, r *http.Response) (*Body, error) {
	b, buffer := &Body{}, &bytes.Buffer{}
	for _, size := range []int64{freeBody, mediumBody, MaxBody} {
		switch length := r.ContentLength; {
		case length > size:
			continue
		case length >= 0:
			size = max(length, freeBody)
		}
		if err := c.claim(ctx, b, host, size); err != nil {
			return nil, err
		}
		_, err := io.CopyN(buffer, r.Body, size+1-int64(buffer.Len()))
		switch {
		case errors.Is(err, io.EOF):
			b.Data = buffer.Bytes()
			b.lease.Shrink(bodyMemory * int64(len(b.Data)))
			return b, nil
		case err != nil:
			b.Release()
			return nil, err
		}
	}
	b.Release()
	return nil, errTooLarge
}

// claim claims the memory for a body up to a size. It holds none while it waits, so that responses do not wait for each
// other in a circle.
func (c *Clients) claim(ctx context.Context, b *Body, host string, size int64) (err error) {
	b.Release()
	if size <= freeBody {
		return nil
	}
	claim := budget.Claim{Holder: host, Bytes: bodyMemory * size}
	if b.lease = c.responses.Try(claim); b.lease != nil {
		return nil
	}
	if c.waits != nil {
		c.waits()
	}
	b.lease, err = c.responses.Acquire(ctx, claim)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoMemory, err)
	}
	return nil
}
