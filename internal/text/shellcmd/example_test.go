package shellcmd_test

import (
	"fmt"

	"github.com/satchel-go/satchel/internal/text/shellcmd"
)

func ExamplePolicy_Check() {
	policy := shellcmd.Policy{Allowed: shellcmd.ParseList("sh, ffmpeg")}
	_, err := policy.Check("ffmpeg -i a.mp4 b.gif; rm a.mp4", shellcmd.OnPath("/usr/bin:/bin"))
	fmt.Println(err)
	// Output: not a single simple command: it has several commands; run one simple command, without shell syntax; allowed: ffmpeg, sh
}

func ExampleWords() {
	commands, err := shellcmd.Words(`cd repo && git log --author "$WHO" | head -3 > log.txt`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range commands {
		fmt.Println(c.Args, c.Open, c.Writes)
	}
	// Output:
	// [cd repo] false []
	// [git log --author] true []
	// [head -3] false [log.txt]
}
