package loopback

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// lookTimeout limits a request to another server, besides watches.
const lookTimeout = 30 * time.Second

// absent returns the owners that do not exist: the server of the kind has no such object, or another object of that
// name (GC/garbagecollector.go: isDangling). All others count as present: a server may not respond, or may not serve
// its kinds yet.
func (x *elsewhere) absent(ctx context.Context, owners []graph.Elsewhere) []graph.Elsewhere {
	all, _ := x.Resources() // owners of unknown versions count as present
	slow := map[string]bool{}
	return slices.DeleteFunc(owners, func(o graph.Elsewhere) bool {
		ctx, cancel := context.WithTimeout(ctx, lookTimeout)
		defer cancel()
		present := slow[o.APIVersion] || !x.isAbsent(ctx, all, o)
		slow[o.APIVersion] = slow[o.APIVersion] || ctx.Err() != nil
		return present
	})
}

// isAbsent looks an owner up. A 404 without a Status may be that of a proxy, or of a server that is starting. Owners of
// a kind with several resources count as present.
func (x *elsewhere) isAbsent(ctx context.Context, all []metav1.APIResource, o graph.Elsewhere) bool {
	has := func(r metav1.APIResource) bool { return o.APIVersion == r.Group+"/"+r.Version && r.Kind == o.Kind }
	i := slices.IndexFunc(all, has)
	if i < 0 || slices.ContainsFunc(all[i+1:], has) || all[i].Namespaced && o.Namespace == "" ||
		len(path.IsValidPathSegmentName(o.Name)) > 0 {
		return false
	}
	r, at := all[i], gc.Object{APIVersion: o.APIVersion, Key: graph.Key{Collection: all[i].Name, Name: o.Name}}
	if r.Namespaced {
		at.Namespace = o.Namespace
	}
	data, err := x.request(ctx, http.MethodGet, at, "PartialObjectMetadata", nil)
	if err != nil {
		st, ok := errors.AsType[*apierrors.StatusError](err)
		if !ok || !apierrors.IsNotFound(err) || apierrors.IsUnexpectedServerError(err) {
			return false
		}
		d := st.Status().Details
		return d != nil && d.Group == r.Group && d.Kind == r.Name && d.Name == o.Name
	}
	var found metav1.PartialObjectMetadata
	return json.Unmarshal(data, &found) == nil && found.UID != "" && string(found.UID) != o.UID
}
