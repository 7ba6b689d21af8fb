package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/storage"
)

// serveGet is GET of one object (H-20).
func (s *Server) serveGet(q *request) error {
	x, err := q.rendering()
	if err != nil {
		return err
	}
	if q.res.Collection == "" {
		return s.getVirtual(q, x)
	}
	query := queryOf(q.r)
	if query.Has("export") { // B-76
		return status.BadRequest("the export parameter, deprecated since v1.14, is no longer supported")
	}
	o, err := s.registry.find(q.r.Context(), &q.op, query.Get("resourceVersion"))
	if err != nil {
		return err
	}
	if q.res.Custom {
		err = x.unsound(o)
	} else {
		err = s.registry.sound(q.res, o)
	}
	if err != nil {
		return s.registry.refused(o.Key, err)
	}
	return q.afford(x.cost(q.r, []*storage.Object{o}), func() error { return q.answer(x, http.StatusOK, o) })
}

// get returns the object as fresh as the revision asks, if it is sound.
func (s *registry) get(ctx context.Context, o *op, revision string) (*storage.Object, error) {
	cur, err := s.find(ctx, o, revision)
	if err != nil {
		return nil, err
	}
	if err := s.sound(o.res, cur); err != nil {
		return nil, s.refused(cur.Key, err)
	}
	return cur, nil
}

// find returns the object as fresh as the revision asks: "" as of now, "0" whatever is cached, N
// at least N. Nobody has looked whether it is sound.
func (s *registry) find(ctx context.Context, o *op, revision string) (*storage.Object, error) {
	rev, err := parseRevision(revision)
	if err != nil {
		return nil, err
	}
	switch {
	case revision == "":
		err = s.fresh(ctx)
	case rev > 0:
		err = s.waitFor(ctx, rev)
	}
	if err != nil {
		return nil, err
	}
	key := o.key(s.root)
	cur, _ := s.cache.Get(key)
	if cur == nil {
		return nil, o.notFound()
	}
	return cur, nil
}

// parseRevision reads a resourceVersion; "" is 0.
func parseRevision(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, field.ErrorList{field.Invalid(field.NewPath("resourceVersion"), text, err.Error())}.ToAggregate()
	}
	return int64(min(n, 1<<62)), nil
}

// revisionWait is how long a read waits for a revision that has not been written (H-11).
const revisionWait = 3 * time.Second

// waitFor waits until the cache has the revision, or answers that it is in the future (H-11).
func (s *registry) waitFor(ctx context.Context, rev int64) error {
	if s.cache.Revision() >= rev {
		return nil
	}
	if err := s.fresh(ctx); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, revisionWait)
	defer cancel()
	err := s.cache.Wait(short, rev)
	if err != nil && errors.Is(short.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return tooLargeRevision(rev, s.cache.Revision(), 1)
	}
	return err
}

func tooLargeRevision(want, have int64, retry int) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", want, have), retry)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}
