// Package release tests the files of a release and the GitHub Action that installs them. They need a
// release, so make release CHECK=1 runs them.
//
// $KUBECASCADE_DIST is the directory with the release's files for this platform.
package release
