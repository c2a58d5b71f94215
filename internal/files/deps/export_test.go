package deps

import "context"

// Place is where Python packages of a requirements.txt would be installed.
func (c *Cache) Place(ctx context.Context, requirements string) (Environment, error) {
	w := ways[0]
	used, err := c.interpreters.find(ctx, w.program, w.version)
	return c.environment(w, used, [][]byte{[]byte(requirements)}), err
}
