package embedded

// What the tests of data directories, which open them through package storage, need to know of their files.
const (
	MarkerName = markerName
	MarkerText = markerText
	MemberDir  = memberDir
	MemberName = memberName
)

// Restored and Exists are what a start looks at.
var (
	Restored = restored
	Exists   = exists
)
