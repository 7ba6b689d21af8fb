package auth

import (
	"crypto/x509"
	"errors"
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
// them with --use-service-account-credentials.
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

// FromCertificate reads the identity out of a client certificate whose chain has been verified:
// the common name is the user, organizations are groups (AS pkg/authentication/request/x509).
func FromCertificate(chain []*x509.Certificate) (User, error) {
	if len(chain) == 0 || chain[0].Subject.CommonName == "" {
		return User{}, ErrNoCredentials
	}
	s := chain[0].Subject
	return User{Name: s.CommonName, Groups: append(append([]string{}, s.Organization...), GroupAuthenticated)}, nil
}
