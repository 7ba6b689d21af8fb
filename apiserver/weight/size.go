package weight

// Size is what is counted in a document.
type Size struct {
	// Elements is the memory of everything whose number depends on the document: elements of lists, entries of maps,
	// and targets of pointers.
	Elements int64
	// Values is the number of values, Bytes the document's length.
	Values, Bytes int64
}

// The factors were measured with documents of 50,000 elements of many kinds, by the largest heap while a request is
// served. An element exists up to four times at once (a growing list, the object, a copy of it, its form for
// managedFields). Every value has a part in managedFields and in the encoded response. Every byte is in the body, in
// the decoder's strings, and in the encoded object and its copies.
const (
	elementFactor = 4
	valueCost     = 64
	byteFactor    = 20
	// treeElement is what a value of a tree of JSON values (map[string]any) counts for as an element: half of a map
	// with one entry, or an empty map, each with its copies.
	treeElement = 96
	// decodedFactor is for an object that is decoded once and encoded once.
	decodedFactor = 2
)

// Write is the memory of a request that stores the decoded object, with all copies.
func (s Size) Write() int64 {
	return elementFactor*s.Elements + valueCost*s.Values + byteFactor*s.Bytes
}

// Decoded is the memory of a decoded object and of one encoded form of it.
func (s Size) Decoded() int64 {
	return decodedFactor*s.Elements + valueCost/4*s.Values + byteFactor/4*s.Bytes
}
