package quiet

func f() int { return 2 }
