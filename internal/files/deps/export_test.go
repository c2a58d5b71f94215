package deps

import "context"

// Place is where Python packages of a requirements.txt would be installed.
func (c *Cache) Place(ctx context.Context, requirements string) (Environment, error) {
	e := ecosystems[0]
	used, err := c.interpreters.find(ctx, e.program, e.version)
	return c.environment(e, used, [][]byte{[]byte(requirements)}), err
}
