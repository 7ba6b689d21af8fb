package filters_test

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// secured is a server with a secure port, with helpers for the tests of this package.
type secured struct{ *apiservertest.Secured }

func start(t *testing.T, configure func(*apiserver.Config)) *secured {
	t.Helper()
	return &secured{apiservertest.StartSecured(t, configure)}
}
