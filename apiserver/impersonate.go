package apiserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/status"
)

// impersonate lets a client act as somebody else if it may. The headers go no further.
func (s *Server) impersonate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if impersonates(r.Header) {
			r = s.actingAs(w, r)
		}
		if r != nil {
			next.ServeHTTP(w, r)
		}
	})
}

// impersonates reports whether there are headers for that.
func impersonates(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, "Impersonate-") {
			return true
		}
	}
	return false
}

// actingAs returns the request as that of the user who is impersonated, if there is one; nil if it is answered.
func (s *Server) actingAs(w http.ResponseWriter, r *http.Request) *http.Request {
	wanted, err := impersonated(r.Header)
	if err == nil && wanted == nil {
		return r
	}
	var u auth.User
	var a *auth.Attributes
	if err == nil {
		a, err = s.attributes(r)
	}
	if err == nil {
		u, err = s.actAs(wanted, a)
	}
	if err != nil {
		s.refuse(w, r, err)
		return nil
	}
	s.log.Debug("impersonation", "by", userOf(r).Name, "as", u.Name)
	return r.WithContext(context.WithValue(r.Context(), userKey{}, u))
}

// impersonated takes out of the headers who a client wants to be; nil if nobody else. A header that can
// have one value only must have one only: which of two is meant is nobody's guess.
func impersonated(h http.Header) (*auth.User, error) {
	u := &auth.User{Name: h.Get(authenticationv1.ImpersonateUserHeader), UID: h.Get(authenticationv1.ImpersonateUIDHeader),
		Groups: h.Values(authenticationv1.ImpersonateGroupHeader)}
	single := max(len(h.Values(authenticationv1.ImpersonateUserHeader)), len(h.Values(authenticationv1.ImpersonateUIDHeader)))
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
		return nil, status.BadRequest("requested &user.DefaultInfo{Name:%#v, UID:%#v, Groups:%#v, Extra:%#v} without impersonating a user name", u.Name, u.UID, u.Groups, u.Extra)
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

// extraKey unescapes a key as it stands in a header's name; one that can't be is taken as it is.
func extraKey(s string) string {
	s = strings.ToLower(s)
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}

// impersonation is one of the ways to be allowed to act as somebody: the constrained ones are for some
// requests and some users only, and have verbs with their names in them; the old one, which has no name,
// is for all (AS pkg/endpoints/filters/impersonation/mode.go).
type impersonation struct {
	name string
	// suits says that it is about such users.
	suits func(wanted *auth.User, by auth.User) bool
}

var impersonations = [...]impersonation{
	{"associated-node", func(wanted *auth.User, by auth.User) bool {
		node, ok := nodeOf(wanted.Name)
		_, _, account := auth.SplitServiceAccount(by.Name)
		own := by.Extra[auth.ExtraNode]
		return ok && account && nameOnly(wanted) && len(own) == 1 && own[0] == node
	}},
	{"arbitrary-node", func(wanted *auth.User, _ auth.User) bool {
		_, ok := nodeOf(wanted.Name)
		return ok && nameOnly(wanted)
	}},
	{"serviceaccount", func(wanted *auth.User, _ auth.User) bool {
		_, _, ok := auth.SplitServiceAccount(wanted.Name)
		return ok && nameOnly(wanted)
	}},
	{"user-info", func(wanted *auth.User, _ auth.User) bool {
		_, node := nodeOf(wanted.Name)
		_, _, account := auth.SplitServiceAccount(wanted.Name)
		return !node && !account
	}},
	{"", func(*auth.User, auth.User) bool { return true }},
}

func nameOnly(u *auth.User) bool { return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0 }

func nodeOf(user string) (string, bool) {
	name, ok := strings.CutPrefix(user, "system:node:")
	return name, ok && len(validation.NameIsDNSSubdomain(name, false)) == 0
}

// actAs returns the identity that a client may take on for the request. If no way allows it, the first
// says why.
func (s *Server) actAs(wanted *auth.User, request *auth.Attributes) (auth.User, error) {
	var first error
	for _, i := range s.ways.order(request.User.Name) {
		m := impersonations[i]
		if !m.suits(wanted, request.User) {
			continue
		}
		u, err := s.actBy(m.name, wanted, request)
		if err == nil {
			s.ways.set(request.User.Name, i)
			return u, nil
		}
		if first == nil {
			first = err
		}
	}
	return auth.User{}, first
}

// actBy asks for every right that one way of acting as the user needs.
func (s *Server) actBy(mode string, wanted *auth.User, request *auth.Attributes) (auth.User, error) {
	p := impersonating{s: s, by: request.User, mode: mode, verb: "impersonate"}
	if mode != "" {
		on := *request
		on.Verb = "impersonate-on:" + mode + ":" + request.Verb
		if err := s.judge(&on); err != nil {
			return auth.User{}, err
		}
		p.verb, p.group = "impersonate:"+mode, authenticationv1.GroupName
	}
	u := *wanted
	if err := p.name(&u); err != nil {
		return auth.User{}, err
	}
	if wanted.UID != "" {
		if err := p.may(authenticationv1.GroupName, "uids", "", "", wanted.UID); err != nil {
			return auth.User{}, err
		}
	}
	if err := p.groups(wanted.Groups); err != nil {
		return auth.User{}, err
	}
	if err := p.extra(wanted.Extra); err != nil {
		return auth.User{}, err
	}
	in := auth.GroupAuthenticated
	if u.Name == auth.NameAnonymous {
		in = auth.GroupUnauthenticated
	}
	if !slices.Contains(u.Groups, in) && !slices.Contains(u.Groups, auth.GroupUnauthenticated) {
		u.Groups = append(slices.Clip(u.Groups), in)
	}
	return u, nil
}

// impersonating asks for rights of one mode.
type impersonating struct {
	s          *Server
	by         auth.User
	mode, verb string
	// group is where users and groups are looked for: the core group in the old mode.
	group string
}

func (p *impersonating) attributes(group, resource, sub, namespace, name string) *auth.Attributes {
	return &auth.Attributes{User: p.by, Verb: p.verb, IsResource: true, Group: group, Version: "v1",
		Resource: resource, Subresource: sub, Namespace: namespace, Name: name}
}

func (p *impersonating) may(group, resource, sub, namespace, name string) error {
	return p.s.judge(p.attributes(group, resource, sub, namespace, name))
}

// name asks for the user's name, and fills in the groups that nodes and service accounts have by theirs.
func (p *impersonating) name(u *auth.User) error {
	if namespace, name, ok := auth.SplitServiceAccount(u.Name); ok {
		if len(u.Groups) == 0 {
			u.Groups = []string{auth.GroupServiceAccounts, auth.GroupServiceAccounts + ":" + namespace}
		}
		return p.may(p.group, "serviceaccounts", "", namespace, name)
	}
	if node, ok := nodeOf(u.Name); ok && p.mode != "" {
		u.Groups = []string{auth.GroupNodes}
		if p.mode == "associated-node" {
			node = "*" // the right is for whatever node the client is on
		}
		return p.may(p.group, "nodes", "", "", node)
	}
	return p.may(p.group, "users", "", "", u.Name)
}

// severalRights are worth asking for all at once first.
const severalRights = 4

func (p *impersonating) groups(groups []string) error {
	if p.mode != "" {
		switch {
		case slices.Contains(groups, ""):
			return forbidden(p.attributes(p.group, "groups", "", "", ""), "impersonating the empty string group is not allowed")
		case slices.Contains(groups, auth.GroupMasters):
			return forbidden(p.attributes(p.group, "groups", "", "", auth.GroupMasters), "impersonating the system:masters group is not allowed")
		case len(groups) >= severalRights && p.may(p.group, "groups", "", "", "*") == nil:
			return nil
		}
	}
	for _, g := range groups {
		if err := p.may(p.group, "groups", "", "", g); err != nil {
			return err
		}
	}
	return nil
}

func (p *impersonating) extra(extra map[string][]string) error {
	const group = authenticationv1.GroupName
	count := 0 // of values; a key has at least one
	for _, values := range extra {
		count += len(values)
	}
	if p.mode != "" && len(extra) > 0 {
		if err := checkExtra(extra); err != nil {
			return forbidden(p.attributes(group, "userextras", "", "", ""), err.Error())
		}
		if count >= severalRights && p.may(group, "userextras", "*", "", "*") == nil {
			return nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		for _, v := range extra[key] {
			if err := p.may(group, "userextras", key, "", v); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkExtra refuses what the constrained modes don't take.
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
