package weight

// Size is what is counted in a document.
type Size struct {
	// Elements is the memory of what the document decides the number of: elements of lists, entries of maps, and what
	// pointers point to.
	Elements int64
	// Values is how many values there are, Bytes the document's length.
	Values, Bytes int64
}

// Measured with documents of 50,000 elements of many kinds, by the largest heap while a request is served: an element
// exists up to four times at once (a list that grows, the object, a copy of it, its form for managedFields), every
// value has a part in managedFields and in the encoded answer, and every byte is in the body, the decoder's strings,
// and the encoded object with its copies.
const (
	elementFactor = 4
	valueCost     = 64
	byteFactor    = 20
	// treeElement is what a value of a tree of JSON values (map[string]any) counts for as an element: half a map of one
	// entry, or an empty map, each with its copies.
	treeElement = 96
	// decodedFactor is for an object that is decoded once and encoded once.
	decodedFactor = 2
)

// Write is the memory of a request that stores what is decoded, with all copies.
func (s Size) Write() int64 {
	return elementFactor*s.Elements + valueCost*s.Values + byteFactor*s.Bytes
}

// Decoded is the memory of an object that is decoded, and of one encoded form of it.
func (s Size) Decoded() int64 {
	return decodedFactor*s.Elements + valueCost/4*s.Values + byteFactor/4*s.Bytes
}
