package render

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubecascade/kubecascade/apiserver/status"
)

// TestServerErrorsAreLogged: an internal error is logged, unless the client has disconnected, because that cancels the
// calls of webhooks, which fail with the code 500.
func TestServerErrorsAreLogged(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	internal := apierrors.NewInternalError(errors.New("failed calling a webhook"))
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want bool
	}{
		{t.Context(), internal, true},
		{late, internal, true},
		{gone, internal, false},
		{t.Context(), status.ErrBusy, false},
	} {
		var lines strings.Builder
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(c.ctx, http.MethodGet, "/", nil)
		Error(slog.New(slog.NewTextHandler(&lines, nil)), w, r, c.err)
		if got := strings.Contains(lines.String(), "request failed"); got != c.want {
			t.Errorf("%v, %v: %q", c.ctx.Err(), c.err, lines.String())
		}
		if code := int(status.Of(c.err).Code); w.Code != code {
			t.Errorf("%d, want %d", w.Code, code)
		}
	}
}
