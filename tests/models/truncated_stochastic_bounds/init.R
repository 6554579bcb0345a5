lo <- 0.1
hi <- 3
