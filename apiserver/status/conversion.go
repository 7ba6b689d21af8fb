package status

import (
	"errors"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Unconverted returns the ConversionError in an error's chain, or nil.
func Unconverted(err error) *entry.ConversionError {
	if err == nil { // the usual case needs no allocation
		return nil
	}
	var c *entry.ConversionError
	errors.As(err, &c)
	return c
}
