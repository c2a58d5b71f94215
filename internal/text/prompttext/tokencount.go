package prompttext

import "unicode/utf8"

// Estimate counts one token for every four ASCII characters and one for every other
// character. For prose the estimate tends to be too high.
func Estimate(text string) int {
	ascii, other := 0, 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < utf8.RuneSelf {
			ascii++
		} else if utf8.RuneStart(c) {
			other++
		}
	}
	return (ascii+3)/4 + other
}
