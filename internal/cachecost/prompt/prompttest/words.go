// Package prompttest has a vocabulary for tests that count tokens by hand, and texts that take long to count.
package prompttest

import (
	"hash/fnv"
	"regexp"
)

// Words is a vocabulary in which each word with the space before it, each run of
// punctuation, and each run of further spaces is one token.
type Words struct{}

var word = regexp.MustCompile(` ?\w+| ?[^\w ]+| +`)

// Encode cuts a text into words. The number of a token is the hash of its text.
func (Words) Encode(text string) (ids []uint, tokens []string, err error) {
	for _, token := range word.FindAllString(text, -1) {
		hash := fnv.New32a()
		hash.Write([]byte(token))
		ids, tokens = append(ids, uint(hash.Sum32()&(1<<31-1))), append(tokens, token)
	}
	return ids, tokens, nil
}
