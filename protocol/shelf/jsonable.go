package shelf

import (
	"fmt"
	"math"
	"time"
)

// maxNesting is how deep a value is kept.
const maxNesting = 32

// jsonable makes of a value of TOML or YAML one that JSON can say.
func jsonable(v any, depth int) any {
	if depth > maxNesting {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = jsonable(value, depth+1)
		}
		return out
	case map[any]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[fmt.Sprint(key)] = jsonable(value, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = jsonable(value, depth+1)
		}
		return out
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
		return v
	case string, bool, int, int64, uint64, nil:
		return v
	case time.Time:
		return v.Format(time.RFC3339)
	case fmt.Stringer:
		return v.String()
	}
	return fmt.Sprint(v)
}
