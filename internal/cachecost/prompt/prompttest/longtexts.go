package prompttest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// LongTexts returns random texts of n bytes or a few more, by their kinds. They take long to count.
func LongTexts(n int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(next func(*strings.Builder)) string {
		var b strings.Builder
		for b.Len() < n {
			next(&b)
		}
		return b.String()
	}
	letter := func(b *strings.Builder) { b.WriteByte(byte('a' + r.IntN(26))) }
	bytes := make([]byte, n/4*3+3)
	for i := range bytes {
		bytes[i] = byte(r.Uint32())
	}
	return map[string]string{
		"a":       random(func(b *strings.Builder) { b.WriteByte('a') }),
		"base64":  base64.StdEncoding.EncodeToString(bytes),
		"chinese": random(func(b *strings.Builder) { b.WriteRune(rune(0x4e00 + r.IntN(3000))) }),
		"letters": random(letter),
		"page": random(func(b *strings.Builder) {
			fmt.Fprintf(b, "## %d. The words of line %[1]d\n\n- one, `two` & three's\n", r.IntN(1e6))
		}),
		"words": random(func(b *strings.Builder) {
			for range 1 + r.IntN(9) {
				letter(b)
			}
			b.WriteByte(' ')
		}),
	}
}
