// Package release tests the files of a release and the GitHub Action that installs them. It is a module of its own: the
// library for bills of materials is no dependency of the server, and the tests need a release, which takes minutes to
// build. So it is run by make release CHECK=1 and not by make test.
//
// $KUBECASCADE_DIST is the directory with the release's files for this platform.
package release
