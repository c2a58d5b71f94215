package prompt

import "encoding/binary"

// recent holds tokens that were whole pieces lately. Each has one place, where the latest takes that of the one
// before.
type recent struct{ places [1 << recentBits]recentPiece }

// recentPiece is a piece of 3 to 8 bytes.
type recentPiece struct {
	text  uint64
	token uint32
	size  uint32
}

const (
	recentBits           = 12
	minRecent, maxRecent = 3, 8
)

// place returns the bytes of a piece of minRecent to maxRecent bytes, and its place.
func (r *recent) place(piece string) (text uint64, place *recentPiece) {
	n := len(piece)
	if n >= 4 {
		text = uint64(binary.LittleEndian.Uint32([]byte(piece[:4]))) | uint64(binary.LittleEndian.Uint32([]byte(piece[n-4:])))<<(8*(n-4))
	} else {
		text = uint64(piece[0]) | uint64(piece[1])<<8 | uint64(piece[2])<<16
	}
	return text, &r.places[text*0x9e3779b97f4a7c15>>(64-recentBits)]
}
