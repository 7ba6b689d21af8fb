package auth

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
)

// User is an identity, as Kubernetes' user.Info has it.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// The groups and users that Kubernetes reserves (AS pkg/authentication/user/user.go).
const (
	GroupMasters         = "system:masters"
	GroupAuthenticated   = "system:authenticated"
	GroupUnauthenticated = "system:unauthenticated"
	GroupServiceAccounts = "system:serviceaccounts"
	GroupNodes           = "system:nodes"
	NameAnonymous        = "system:anonymous"
)

// Loopback is who speaks on the plain port: whoever can reach it administers the server, as with
// kubectl proxy.
var Loopback = User{Name: "system:unsecured", Groups: []string{GroupMasters, GroupAuthenticated}}

// ServiceAccount is the identity of a controller in kube-system, as kube-controller-manager has
// them with --use-service-account-credentials, or of whoever bears its token.
func ServiceAccount(namespace, name string) User {
	return User{
		Name:   ServiceAccountName(namespace, name),
		Groups: []string{GroupServiceAccounts, GroupServiceAccounts + ":" + namespace, GroupAuthenticated},
	}
}

const accountPrefix = "system:serviceaccount:"

// ServiceAccountName is the user that a service account acts as.
func ServiceAccountName(namespace, name string) string { return accountPrefix + namespace + ":" + name }

// Anonymous is who offers no credentials.
var Anonymous = User{Name: NameAnonymous, Groups: []string{GroupUnauthenticated}}

// ErrNoCredentials says that the client offered nothing to be known by.
var ErrNoCredentials = errors.New("auth: no credentials")

// authenticated returns the user as a member of the group of those who were let in.
func (u User) authenticated() User {
	if u.Name != NameAnonymous && !slices.Contains(u.Groups, GroupAuthenticated) {
		u.Groups = append(slices.Clip(u.Groups), GroupAuthenticated)
	}
	return u
}

// SplitServiceAccount returns the service account that a user's name is that of; ok is false for
// others' (AS pkg/authentication/serviceaccount: SplitUsername).
func SplitServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, accountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	ok = ok && len(validation.ValidateNamespaceName(namespace, false)) == 0 && len(validation.ValidateServiceAccountName(name, false)) == 0
	return namespace, name, ok
}
