package cli

import (
	"errors"
	"io"
)

// Closers is a list of values that are closed in their order.
type Closers []io.Closer

// Close closes all values and joins their errors.
func (c Closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// Add appends a value.
func (c *Closers) Add(one io.Closer) { *c = append(*c, one) }
