package status

import (
	"errors"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Unconverted returns the ConversionError in an error's chain; nil if there is none.
func Unconverted(err error) *resources.ConversionError {
	if err == nil { // the usual case, without an allocation
		return nil
	}
	var c *resources.ConversionError
	errors.As(err, &c)
	return c
}
