package status

import (
	"errors"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Unconverted returns the ConversionError in an error's chain; nil if there is none.
func Unconverted(err error) *entry.ConversionError {
	if err == nil { // the usual case, without an allocation
		return nil
	}
	var c *entry.ConversionError
	errors.As(err, &c)
	return c
}
