#include "textflag.h"

// noop is a handler of signals that does nothing. Go code never calls it.
TEXT noop<>(SB), NOSPLIT|NOFRAME, $0-0
	RET

// func noopAddress() uintptr
TEXT ·noopAddress(SB), NOSPLIT, $0-8
	LEAQ noop<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET
