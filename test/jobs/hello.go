// hello.go - goroutines, garbage collection, a child process, its own path
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

func main() {
	var wg sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			for j := 0; j < 1000; j++ {
				sums[i] += len(strings.Repeat("x", j))
			}
		}(i)
	}
	wg.Wait()
	runtime.GC()
	self, err := os.Executable()
	fmt.Println(sums, filepath.Base(self), err)
	out, err := exec.Command("/bin/echo", "child").Output()
	fmt.Print(string(out), err, "\n")
}
