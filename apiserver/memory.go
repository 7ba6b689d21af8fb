package apiserver

import (
	"context"
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/budget"
	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/exchange"
	"github.com/kubecascade/kubecascade/apiserver/pool"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/apiserver/turns"
	"github.com/kubecascade/kubecascade/apiserver/weight"
)

// defaultMemory is Config.MemoryInFlight by default.
const defaultMemory = 1 << 30

// maxBodyMemory bounds what a body may take by itself, however much memory there is: pieces of memory as large as that
// are copied and cleared without a pause, so that all requests wait.
const maxBodyMemory = 256 << 20

// maxJSONPatchMemory is maxBodyMemory for a JSON patch. It is weighed as if all that it may copy were the costliest
// values of the object's kind, so its estimate is further from what it takes.
const maxJSONPatchMemory = 2 * maxBodyMemory

// slowBody is how many bytes take milliseconds to be weighed.
const slowBody = 256 << 10

// errDeferred says that a request goes on in q.rest when there is memory for it. No client sees it.
var errDeferred = errors.New("the request waits for memory")

// claim is what a request wants to hold.
func (q *request) claim(bytes int64) budget.Claim {
	return budget.Claim{Holder: pool.HolderOf(q.User.Name), Bytes: bytes, Master: slices.Contains(q.User.Groups, auth.GroupMasters)}
}

// charge waits until there is memory for what is known of the request before it is served. What YAML stands for is
// known only when it is parsed, for which there must be memory as well.
func (s *Server) charge(q *request) error {
	body, media := q.body(), q.media()
	bytes, exact, err := s.weighInTurn(q, media, body)
	if err != nil {
		return err
	}
	if exact || bytes <= budget.Light && !weight.Aliased(body) {
		return s.reserve(q, bytes, q.mostMemory())
	}
	tree, _ := codec.TreeKind.YAML(body)
	if err := s.reserve(q, tree.Write(), 0); err != nil {
		return err
	}
	if codec.CheckAliases(body) != nil {
		return nil // the decoder reports it
	}
	data, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil // as above
	}
	bytes, _ = s.weigh(q, codec.MediaJSON, data)
	return s.reserve(q, tree.Write()+bytes, tree.Write()+maxBodyMemory)
}

// mostMemory is what the request's body may take.
func (q *request) mostMemory() int64 {
	if q.verb == "patch" && types.PatchType(patchMedia(q.r)) == types.JSONPatchType {
		return maxJSONPatchMemory
	}
	return maxBodyMemory
}

// weighInTurn is weigh.
func (s *Server) weighInTurn(q *request, media string, body []byte) (n int64, exact bool, err error) {
	err = s.inTurn(q.r, q.User.Name, len(body) > slowBody, func() { n, exact = s.weigh(q, media, body) })
	return n, exact, err
}

// inTurn does a user's work, if it is long one after the other, so that short requests find a processor, and other
// users their turns. A request that waits for its turn has no seat meanwhile. The error is that of r's context, if that
// ends before.
func (s *Server) inTurn(r *http.Request, user string, long bool, work func()) error {
	if long {
		if err := s.wait(r, pool.HolderOf(user)); err != nil {
			return err
		}
		defer s.long.End(turns.Now)
	}
	work()
	return nil
}

// wait waits for the turn of long work.
func (s *Server) wait(r *http.Request, holder string) (err error) {
	if s.long.Try() {
		return nil
	}
	exchange.Of(r).Aside(func() { err = s.long.Begin(turns.Now, holder, r.Context().Done()) })
	if err != nil {
		return r.Context().Err()
	}
	return nil
}

// reserve waits until there is memory for the request, as long as for a seat. It holds no seat meanwhile: requests that
// wait for memory keep none from those that need little. most is what it may have, 0 for any number. Errors: 413 if
// there is never so much, 429 if it takes too long.
func (s *Server) reserve(q *request, bytes, most int64) error {
	if bytes <= 0 {
		return nil
	}
	q.lease.Release()
	claim := q.claim(bytes)
	claim.Most = most
	if q.lease = s.memory.Try(claim); q.lease != nil {
		return nil
	}
	exchange.Of(q.r).EndTurn()
	ctx, cancel := context.WithTimeoutCause(q.r.Context(), s.config.RequestTimeout/4, status.ErrNoMemory)
	defer cancel()
	var err error
	q.lease, err = s.memory.Acquire(ctx, claim)
	switch {
	case errors.Is(err, budget.ErrTooLarge):
		return apierrors.NewRequestEntityTooLargeError(err.Error())
	case errors.Is(err, budget.ErrFull):
		return status.ErrNoMemory
	}
	return err
}

// afford makes an answer that takes so much memory, in the seat that the request has if there is that much at once.
// Else the request gives its seat back, waits, and goes on in another. What the request has held so far is for the
// answer, too: by then nothing else is left of it.
func (q *request) afford(bytes int64, answer func() error) error {
	if bytes <= q.lease.Bytes() {
		return answer()
	}
	q.lease.Release()
	if q.lease = q.s.memory.Try(q.claim(bytes)); q.lease != nil {
		return answer()
	}
	q.rest, q.wants = answer, bytes
	return errDeferred
}

// serve runs a request in its seat, and what it has deferred in another.
func (s *Server) serve(q *request) error {
	err := s.seat(q, func() error { return s.verb(q) })
	for err == errDeferred {
		err = s.reserve(q, q.wants, 0)
		switch {
		case err == nil:
			err = s.seat(q, q.rest)
		case q.without != nil:
			return q.without()
		}
	}
	return err
}
