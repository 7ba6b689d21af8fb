package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/ui"
)

// ErrExpired says that a watch must begin anew, with a list. Test with errors.Is.
var ErrExpired = errors.New("the watch has expired")

// watchTime is how long a watch lasts at most. The server may end it before.
const watchTime = 5 * time.Minute

// MayList reports whether an error of Pages or Watch is that the user may not list the objects.
func MayList(err error) bool { return code(err) != http.StatusForbidden }

// OnPage is a resource in the form of the page.
func OnPage(r *explain.Resource) ui.Resource {
	return ui.Resource{
		Name: r.Name(), APIVersion: r.APIVersion(), Kind: r.Kind, Plural: r.Plural, Namespaced: r.Namespaced,
		Unknown: r.Unknown,
	}
}

// metadataEvents asks for the events of a watch with metadata only. A server that does not know the form sends whole
// objects, which have the metadata in the same place.
const metadataEvents = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// Watch calls yield with the events of a resource's objects, of one namespace or of all, after a resource version. It
// returns nil when the server ends the watch, and ErrExpired if a list must be read first. Bookmarks are events, too.
func (c *Client) Watch(
	ctx context.Context, res *Resource, namespace, version string, yield func(kind string, m *metav1.ObjectMeta),
) error {
	q := url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version},
		"timeoutSeconds": {strconv.Itoa(int(watchTime.Seconds()))},
	}
	ctx, cancel := context.WithTimeout(ctx, watchTime+30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+res.Path(namespace)+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", metadataEvents)
	answer, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		if answer.StatusCode == http.StatusGone {
			return ErrExpired
		}
		return asError(req, answer, body)
	}
	return events(json.NewDecoder(answer.Body), yield)
}

// events reads the events of a watch.
func events(d *json.Decoder, yield func(kind string, m *metav1.ObjectMeta)) error {
	for {
		var e struct {
			Type   string
			Object struct {
				Metadata metav1.ObjectMeta
				Message  string
				Code     int
			}
		}
		switch err := d.Decode(&e); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("watch: %w", err)
		case e.Type == "ERROR" && e.Object.Code == http.StatusGone:
			return ErrExpired
		case e.Type == "ERROR":
			return fmt.Errorf("watch: %s", e.Object.Message)
		}
		yield(e.Type, &e.Object.Metadata)
	}
}
