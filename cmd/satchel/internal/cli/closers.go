package cli

import (
	"errors"
	"io"
)

// Closers is a list of values that are closed in their order.
type Closers []io.Closer

// Close closes all and returns their errors.
func (c Closers) Close() error {
	var errs []error
	for _, one := range c {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// Add lets a value be closed after those that are there.
func (c *Closers) Add(one io.Closer) { *c = append(*c, one) }
