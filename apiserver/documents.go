package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/apiserver/pkg/server/statusz"
	"k8s.io/component-base/compatibility"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/go-chi/chi/v5"

	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/filters"
	"github.com/kubecascade/kubecascade/apiserver/flowcontrol"
	"github.com/kubecascade/kubecascade/apiserver/openapi"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// documented returns the types of the table for their OpenAPI documents.
func documented(types *resources.Types) []openapi.Type {
	scheme := resources.Scheme()
	var out []openapi.Type
	for _, r := range types.All() {
		if r.Custom {
			out = append(out, documentedCustom(r))
			continue
		}
		t := openapi.Type{
			Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural, Namespaced: r.Namespaced, Verbs: r.Verbs,
			Object: r.New(), DeletesReturnObject: r.Delete.Returned,
		}
		if list, err := scheme.New(r.GroupVersion().WithKind(r.Kind + "List")); err == nil {
			t.List = list
		}
		for _, sub := range r.Subresources {
			t.Subresources = append(t.Subresources, documentedSub(scheme, sub))
		}
		out = append(out, t)
	}
	return out
}

func documentedSub(scheme *runtime.Scheme, sub resources.Subresource) openapi.Subresource {
	d := openapi.Subresource{Name: sub.Name, Verbs: sub.Verbs, Kind: sub.Kind}
	to, kind := &d.Object, sub.Kind
	if sub.Action.Connects() {
		to, d.Proxied = &d.Options, sub.Action == resources.Proxied
		if !sub.Options.Empty() {
			kind = sub.Options
		}
	}
	if !kind.Empty() {
		if obj, err := scheme.New(kind); err == nil {
			*to = obj
		}
	}
	return d
}

// documentedCustom returns the type of a custom resource for its OpenAPI document.
func documentedCustom(r *resources.Resource) openapi.Type {
	t := openapi.Type{Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural, Namespaced: r.Namespaced,
		Verbs: r.Verbs, Custom: &openapi.Custom{ListKind: r.ListKind, Sum: r.State, Schema: r.OpenAPI}}
	for _, sub := range r.Subresources {
		t.Subresources = append(t.Subresources, documentedSub(resources.Scheme(), sub))
	}
	return t
}

// customSchemas returns a function that makes the type converter of a custom resource. The converter has the schemas of
// all versions, because entries of managedFields may have any of them (AX pkg/apiserver/customresource_handler.go:
// buildOpenAPIModelsForApply).
func customSchemas(types *resources.Types) func(*resources.Resource) (managedfields.TypeConverter, error) {
	return func(r *resources.Resource) (managedfields.TypeConverter, error) {
		var all []openapi.Type
		for _, v := range versionsOf(types, r) {
			all = append(all, documentedCustom(v))
		}
		schemas, err := openapi.Definitions(all...)
		if err != nil {
			return nil, err
		}
		return managedfields.NewTypeConverter(schemas, false)
	}
}

// CheckTypes returns the type checker's warnings about a policy's expressions.
func CheckTypes(
	types *resources.Types, policy *admissionv1.ValidatingAdmissionPolicySpec,
) []admissionv1.ExpressionWarning {
	return expression.CheckTypes(policy, served(types))
}

// served returns the kinds and schemas that type checking uses. Each call of SchemaOf makes a new schema.
func served(types *resources.Types) expression.Schemas {
	return expression.Schemas{
		KindsOf: func(r schema.GroupVersionResource) []schema.GroupVersionKind {
			if e := types.Lookup(r.Group, r.Version, r.Resource); e != nil {
				return []schema.GroupVersionKind{e.GroupVersionKind()}
			}
			return nil
		},
		SchemaOf: func(kind schema.GroupVersionKind) *spec.Schema {
			if e := types.Kind(kind); e != nil {
				return schemaOf(e)
			}
			return nil
		},
	}
}

// schemaOf returns the schema of a kind, with its references resolved, or nil if the kind has none.
func schemaOf(r *resources.Resource) *spec.Schema {
	if !r.Custom {
		return expression.Resolve(openapi.Schemas(r.New()))
	}
	schemas, err := openapi.Definitions(documentedCustom(r))
	if err != nil {
		return nil
	}
	return expression.Resolve(openapi.CustomName(r.GroupVersion(), r.Kind), schemas)
}

// versionsOf returns the entries of all versions of a custom resource, served or not, beginning with r.
func versionsOf(types *resources.Types, r *resources.Resource) []*resources.Resource {
	all := []*resources.Resource{r}
	for _, v := range types.All() {
		if v.Custom && v.Collection == r.Collection && v.Version != r.Version {
			all = append(all, v)
		}
	}
	return append(all, r.Unserved...)
}

// openID serves the documents that verifiers of service account tokens read: the issuer's configuration and its keys (K
// pkg/routes/openidmetadata.go).
func (s *Server) openID(w http.ResponseWriter, r *http.Request) {
	if s.config.Accounts == nil {
		http.NotFound(w, r)
		return
	}
	configuration, keys, err := s.config.Accounts.Documents(s.config.KeysURL)
	if err != nil {
		s.config.Log.Info("the issuer of service account tokens does not support discovery", "err", err)
		http.NotFound(w, r)
		return
	}
	media, data := "application/json", configuration
	if r.URL.Path == "/openid/v1/jwks" {
		media, data = "application/jwk-set+json", keys
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	render.Body(w, r, http.StatusOK, data)
}

// profiles returns the handlers of --profiling by path, as in kube-apiserver. Unlike there, profiling is off by
// default, because profiles reveal the process' memory.
func profiles(setVerbosity func(int)) map[string]http.Handler {
	all := map[string]http.Handler{
		"/debug/pprof":         http.HandlerFunc(profileIndex),
		"/debug/pprof/*":       http.HandlerFunc(pprof.Index),
		"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
		"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
		"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
	}
	if setVerbosity != nil {
		all["/debug/flags/v"] = verbosity(setVerbosity)
	}
	return all
}

// verbosity handles a PUT of the verbosity of logs (AS pkg/server/routes/flags.go: StringFlagPutHandler).
func verbosity(set func(int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Method != http.MethodPut {
			render.Body(w, r, http.StatusNotAcceptable, []byte("unsupported http method\n"))
			return
		}
		body, err := io.ReadAll(r.Body)
		v, wrong := strconv.Atoi(string(body))
		if err = errors.Join(err, wrong); err != nil {
			render.Body(w, r, http.StatusBadRequest, fmt.Appendln(nil, "failed to set the verbosity:", err))
			return
		}
		set(v)
		render.Body(w, r, http.StatusOK, fmt.Appendf(nil, "successfully set klog.logging.verbosity to %d\n", v))
	}
}

// flags implements flagz.Reader.
type flags map[string]string

func (f flags) GetFlagz() map[string]string { return f }

// zpages adds kube-apiserver's debugging pages: upstream's handlers, and the tables of the request queues.
func (s *Server) zpages(r chi.Router) {
	const component = "apiserver"
	if s.config.Flags != nil {
		flagz.Install(r, component, flags(s.config.Flags))
	}
	if s.config.Statusz {
		own := compatibility.NewEffectiveVersionFromString(s.config.Version.GitVersion, "", "")
		statusz.Install(r, component, statusz.NewRegistry(own, statusz.WithListedPaths(s.listed())))
	}
	r.Handle("/metrics/slis", s.metrics.Health.Handler())
	for _, name := range flowcontrol.Dumps() {
		r.HandleFunc("/debug/api_priority_and_fairness/"+name, func(w http.ResponseWriter, r *http.Request) {
			var b bytes.Buffer
			if err := s.seats.Dump(&b, name); err != nil {
				render.Error(s.config.Log, w, r, err)
				return
			}
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			render.Body(w, r, http.StatusOK, b.Bytes())
		})
	}
}

// profileIndex serves the index of the profiles. Its links are relative to a path that ends with a slash, so a request
// without one is redirected (k8s.io/apiserver pkg/server/routes/profiling.go: redirectTo).
func profileIndex(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(filters.OriginalPath(r), "/") {
		http.Redirect(w, r, "/debug/pprof/", http.StatusFound)
		return
	}
	pprof.Index(w, r)
}
