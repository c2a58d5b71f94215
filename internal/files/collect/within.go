package collect

import (
	"fmt"
	"github.com/satchel-go/satchel/outputs"
)

// Within returns the spec with every value lowered to the limits, and says what
// was lowered.
func (s Spec) Within(l outputs.Limits) (Spec, []string) {
	var lowered []string
	files := int64(s.MaxFiles)
	for _, f := range []struct {
		key            string
		asked          *int64
		most, standard int64
	}{
		{"max_files", &files, int64(l.MaxFiles), DefaultMaxFiles},
		{"max_file_bytes", &s.MaxFileBytes, l.MaxFileBytes, DefaultMaxFileBytes},
		{"max_total_bytes", &s.MaxTotalBytes, l.MaxTotalBytes, DefaultMaxTotalBytes},
	} {
		most := f.most
		if most <= 0 {
			most = f.standard
		}
		if *f.asked > most {
			lowered = append(lowered, fmt.Sprintf("%s: %d is more than this host allows; it is %d", f.key, *f.asked, most))
		}
		if *f.asked <= 0 || *f.asked > most {
			*f.asked = min(most, max(f.standard, *f.asked))
		}
	}
	s.MaxFiles = int(files)
	return s, lowered
}
