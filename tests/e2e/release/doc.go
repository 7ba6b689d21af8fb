// Package release tests the files of a release and the GitHub Action that installs them. make release CHECK=1 makes the
// release and runs the tests.
//
// $KUBECASCADE_DIST is the directory with the release's files for this platform.
package release
