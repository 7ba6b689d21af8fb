package status

import (
	"errors"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Unconverted returns the ConversionError that an error is, nil if it is another.
func Unconverted(err error) *resources.ConversionError {
	if err == nil { // as a rule, and to look costs memory
		return nil
	}
	var c *resources.ConversionError
	errors.As(err, &c)
	return c
}
