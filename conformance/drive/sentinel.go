package drive

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubecascade/kubecascade/conformance/model"
)

// sentinelName begins the names of ConfigMaps that aren't the model's.
const sentinelName = "collected-"

// isSentinel reports whether the object is one by which a collector's progress is seen.
func isSentinel(kind, name string) bool {
	return kind == "ConfigMap" && strings.HasPrefix(name, sentinelName)
}

// Sentinel makes an object whose owner is absent, and waits until it is collected: a collector that takes what
// happens in order has seen all that was there before. n is another one each time. Nobody else sees the object. It is
// false if ctx ends first, and the object is deleted then.
func (s *Session) Sentinel(ctx context.Context, n int) (collected bool, err error) {
	name := fmt.Sprint(sentinelName, n)
	path, err := s.createOwned(ctx, model.KindOf("ConfigMap"), name)
	if err != nil {
		return false, err
	}
	for {
		s.mu.Lock()
		collected, more, err := s.collected[name], s.more, s.broken
		s.mu.Unlock()
		if collected || err != nil {
			return collected, err
		}
		select {
		case <-more:
		case <-ctx.Done():
			_, _, err := s.do(context.WithoutCancel(ctx), Request{Method: http.MethodDelete, Path: path})
			return false, err
		}
	}
}
