package v1

// Hub marks v1 as the version that all others are converted to and from.
func (*Berth) Hub() {}
