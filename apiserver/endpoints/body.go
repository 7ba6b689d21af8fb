package endpoints

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// The memory that a write needs for each byte of its body and of the stored object that it changes, and for each of
// their values. BenchmarkWriteMemory measures what a create allocates: 3 to 33 bytes for each of JSON, 28 to 130 for
// each of YAML, of which about a third is live at a time; and up to 2 KB for an empty container, which is two values.
const bodyFactor, yamlFactor, valueCost = 20, 40, 1 << 10

// writeCost estimates the memory of a write, whose body has been read. It is too large by the length of its body alone.
func (a *API) writeCost(req *request) int64 {
	if isRead(req.verb) {
		return 0
	}
	body, factor := codec.Body{Bytes: req.body, Media: patchMedia(req.r)}, bodyFactor
	if strings.HasSuffix(body.Media, "yaml") {
		factor = yamlFactor
	}
	cost, more := int64(factor*len(body.Bytes)), valueCost*codec.CountValues(body)
	if req.Name != "" && req.Resource.Collection != "" {
		if stored, _ := a.registry.Cache.Get(req.Key(a.registry.Root)); stored != nil {
			more += bodyFactor*len(stored.JSON) + valueCost*codec.CountValues(codec.Body{Bytes: stored.JSON})
		}
	}
	return max(cost, min(cost+int64(more), a.memory.Share()))
}

// isRead reports whether the body of a verb has no meaning.
func isRead(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }

// readBody reads the whole body, unless its media type is not supported: a client that sends Expect: 100-continue then
// gets the error without sending the body. That of a read is discarded.
func (req *request) readBody() (err error) {
	switch {
	case req.r.Body == nil || req.r.Body == http.NoBody || !req.mediaServed():
		return nil
	case req.r.ContentLength > codec.MaxBody:
		return codec.TooLarge()
	case isRead(req.verb):
		_, err = io.Copy(io.Discard, req.r.Body)
	case req.r.ContentLength >= 0:
		req.body = make([]byte, req.r.ContentLength)
		_, err = io.ReadFull(req.r.Body, req.body)
		if err == nil { // the end is read, too: it removes the deadline of the connection
			_, err = io.Copy(io.Discard, req.r.Body)
		}
	default:
		req.body, err = io.ReadAll(req.r.Body)
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return codec.TooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return status.ErrSlowBody
	case err != nil:
		return status.BadRequest("reading the body: %v", err)
	}
	return nil
}
