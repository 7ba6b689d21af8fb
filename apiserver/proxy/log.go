package proxy

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// maxError limits the length of a kubelet's error message (AS pkg/registry/generic/rest/response_checker.go).
const maxError = 50000

// Log responds with the log at a URL. Errors for responses of the kubelet name the object. (AS
// pkg/registry/generic/rest/streamer.go: InputStream.)
func Log(
	w http.ResponseWriter, r *http.Request, from *url.URL, transport http.RoundTripper, of schema.GroupResource,
	name string,
) error {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, from.String(), nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("redirects forbidden")
	}}
	response, err := client.Do(req)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if code := response.StatusCode; code < http.StatusOK || code > http.StatusPartialContent {
		text, err := io.ReadAll(io.LimitReader(response.Body, maxError))
		switch {
		case err != nil:
			return apierrors.NewInternalError(err)
		case code == http.StatusInternalServerError:
			return apierrors.NewInternalError(errors.New(string(text)))
		case code == http.StatusBadRequest:
			return apierrors.NewBadRequest(string(text))
		}
		return apierrors.NewGenericServerResponse(code, "", of, name, string(text), 0, false)
	}
	SendLog(w, r, response.Body)
	return nil
}

// SendLog responds with a log, which it streams. If the client disconnects, or if the log can't be read to its end, it
// returns without an error.
func SendLog(w http.ResponseWriter, r *http.Request, log io.Reader) {
	if wsstream.IsWebSocketRequest(r) {
		u := &upgradable{ResponseWriter: w, ctx: r.Context()}
		defer u.release()
		_ = wsstream.NewReader(log, true, wsstream.NewDefaultReaderProtocols()).Copy(u, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for {
		if control.Flush() != nil {
			return
		}
		n, err := log.Read(buffer)
		if _, failed := w.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}
