marked <- 40
caught <- 30
m <- 11
