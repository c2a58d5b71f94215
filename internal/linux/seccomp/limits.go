package seccomp

// maxSkip is how many instructions a conditional jump of classic BPF can skip.
const maxSkip = 255
