package filters

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/render"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// Impersonate lets a client act as another user, if it is allowed to. It removes the headers.
func Impersonate(by authorization.Authorizer, log *slog.Logger) func(http.Handler) http.Handler {
	p := &impersonator{authorizer: by, log: log}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !impersonates(r.Header) || p.impersonate(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// impersonator authorizes impersonation.
type impersonator struct {
	authorizer authorization.Authorizer
	log        *slog.Logger
	cache      modeCache
}

// impersonates reports whether there are headers of impersonation.
func impersonates(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// impersonate replaces the user of the request by the impersonated user, if there is one. It returns false if it has
// responded with an error.
func (p *impersonator) impersonate(w http.ResponseWriter, r *http.Request) bool {
	wanted, err := impersonated(r.Header)
	if err == nil && wanted == nil {
		return true
	}
	info, u, verb := requestinfo.Of(r), authorization.User{}, ""
	if err == nil {
		u, verb, err = p.authorize(wanted, info.Attributes())
	}
	if err != nil {
		render.Denied(p.log, w, r, err)
		return false
	}
	p.log.Debug("impersonation", "by", info.User.Name, "as", u.Name)
	render.AuditOf(r).Impersonated(u, verb)
	info.ActAs(u)
	return true
}

// impersonated returns the user that the client wants to impersonate, or nil, and removes the headers. A header that
// can have only one value must not have two.
func impersonated(h http.Header) (*authorization.User, error) {
	u := &authorization.User{Name: h.Get(authenticationv1.ImpersonateUserHeader),
		UID:    h.Get(authenticationv1.ImpersonateUIDHeader),
		Groups: h.Values(authenticationv1.ImpersonateGroupHeader)}
	single := max(
		len(h.Values(authenticationv1.ImpersonateUserHeader)), len(h.Values(authenticationv1.ImpersonateUIDHeader)),
	)
	more := u.UID != "" || len(u.Groups) > 0
	for name, values := range h {
		key, ok := strings.CutPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		more = true
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		key = extraKey(key)
		u.Extra[key] = append(u.Extra[key], values...)
	}
	switch {
	case single > 1:
		return nil, apierrors.NewBadRequest("requested to impersonate more than one user")
	case u.Name == "" && more:
		return nil, status.BadRequest(
			"requested &user.DefaultInfo{Name:%#v, UID:%#v, Groups:%#v, Extra:%#v} without impersonating a user name", u.Name,
			u.UID, u.Groups, u.Extra,
		)
	case u.Name == "":
		return nil, nil
	}
	for name := range h {
		if strings.HasPrefix(name, "Impersonate-") {
			h.Del(name)
		}
	}
	return u, nil
}

// extraKey unescapes a key of extra in a header's name. It returns an invalid key in lower case.
func extraKey(s string) string {
	s = strings.ToLower(s)
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}

// authorize returns the user that the client may impersonate for the request, and the verb of the constrained mode that
// allows it. The verb of the legacy mode is empty. If no mode allows it, the error is that of the first mode.
func (p *impersonator) authorize(
	wanted *authorization.User, request *authorization.Attributes,
) (u authorization.User, verb string, err error) {
	var first error
	for _, i := range p.cache.order(request.User.Name) {
		m := modes[i]
		if !m.suits(wanted, request.User) {
			continue
		}
		u, err := p.authorizeBy(m.name, wanted, request)
		if err == nil {
			p.cache.set(request.User.Name, i)
			return u, m.verb(), nil
		}
		if first == nil {
			first = err
		}
	}
	return authorization.User{}, "", first
}

// authorizeBy authorizes everything that one mode of impersonation requires.
func (p *impersonator) authorizeBy(
	mode string, wanted *authorization.User, request *authorization.Attributes,
) (authorization.User, error) {
	q := rights{authorizer: p.authorizer, by: request.User, mode: mode, verb: "impersonate"}
	if mode != "" {
		on := *request
		on.Verb = "impersonate-on:" + mode + ":" + request.Verb
		if err := requestinfo.Authorize(p.authorizer, &on); err != nil {
			return authorization.User{}, err
		}
		q.verb, q.group = constrained+mode, authenticationv1.GroupName
	}
	u := *wanted
	if err := q.name(&u); err != nil {
		return authorization.User{}, err
	}
	if wanted.UID != "" {
		if err := q.may(authenticationv1.GroupName, "uids", "", "", wanted.UID); err != nil {
			return authorization.User{}, err
		}
	}
	if err := q.groups(wanted.Groups); err != nil {
		return authorization.User{}, err
	}
	if err := q.extra(wanted.Extra); err != nil {
		return authorization.User{}, err
	}
	in := authorization.GroupAuthenticated
	if u.Name == authorization.NameAnonymous {
		in = authorization.GroupUnauthenticated
	}
	if !slices.Contains(u.Groups, in) && !slices.Contains(u.Groups, authorization.GroupUnauthenticated) {
		u.Groups = append(slices.Clip(u.Groups), in)
	}
	return u, nil
}

// rights are the permissions that one mode requires of the client.
type rights struct {
	authorizer authorization.Authorizer
	by         authorization.User
	mode, verb string
	// group is the API group of users and groups: the core group in the legacy mode.
	group string
}

func (q *rights) attributes(group, resource, sub, namespace, name string) *authorization.Attributes {
	return &authorization.Attributes{User: q.by, Verb: q.verb, IsResource: true, Group: group, Version: "v1",
		Resource: resource, Subresource: sub, Namespace: namespace, Name: name}
}

func (q *rights) may(group, resource, sub, namespace, name string) error {
	return requestinfo.Authorize(q.authorizer, q.attributes(group, resource, sub, namespace, name))
}

// name authorizes the user's name, and sets the groups of a node or service account.
func (q *rights) name(u *authorization.User) error {
	if namespace, name, err := serviceaccount.SplitUsername(u.Name); err == nil {
		if len(u.Groups) == 0 {
			u.Groups = serviceaccount.MakeGroupNames(namespace)
		}
		return q.may(q.group, "serviceaccounts", "", namespace, name)
	}
	if node, ok := nodeOf(u.Name); ok && q.mode != "" {
		u.Groups = []string{user.NodesGroup}
		if q.mode == "associated-node" {
			node = "*" // the permission is for the node of the client
		}
		return q.may(q.group, "nodes", "", "", node)
	}
	return q.may(q.group, "users", "", "", u.Name)
}

// severalRights is the number of names from which on the permission for "*" is checked first.
const severalRights = 4

func (q *rights) groups(groups []string) error {
	if q.mode != "" {
		switch {
		case slices.Contains(groups, ""):
			return requestinfo.Forbidden(
				q.attributes(q.group, "groups", "", "", ""), "impersonating the empty string group is not allowed",
			)
		case slices.Contains(groups, authorization.GroupMasters):
			return requestinfo.Forbidden(
				q.attributes(q.group, "groups", "", "", authorization.GroupMasters),
				"impersonating the system:masters group is not allowed",
			)
		case len(groups) >= severalRights && q.may(q.group, "groups", "", "", "*") == nil:
			return nil
		}
	}
	for _, g := range groups {
		if err := q.may(q.group, "groups", "", "", g); err != nil {
			return err
		}
	}
	return nil
}

func (q *rights) extra(extra map[string][]string) error {
	const group = authenticationv1.GroupName
	count := 0 // of values; a key has at least one
	for _, values := range extra {
		count += len(values)
	}
	if q.mode != "" && len(extra) > 0 {
		if err := checkExtra(extra); err != nil {
			return requestinfo.Forbidden(q.attributes(group, "userextras", "", "", ""), err.Error())
		}
		if count >= severalRights && q.may(group, "userextras", "*", "", "*") == nil {
			return nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		for _, v := range extra[key] {
			if err := q.may(group, "userextras", key, "", v); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkExtra returns an error for extra values that the constrained modes do not accept.
func checkExtra(extra map[string][]string) error {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if key == "" {
			return errors.New("impersonating the empty string key in extra is not allowed")
		}
		if err := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key).ToAggregate(); err != nil {
			return fmt.Errorf("impersonating an invalid key in extra is not allowed: %w", err)
		}
		if slices.Contains(extra[key], "") {
			return errors.New("impersonating the empty string value in extra is not allowed")
		}
	}
	return nil
}
