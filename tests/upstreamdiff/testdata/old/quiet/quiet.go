package quiet

func f() int { return 1 }
