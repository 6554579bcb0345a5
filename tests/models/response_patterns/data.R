N <- 106
T <- 4
R <- 16
`pattern` <-
structure(c(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 0L,
  0L, 0L, 0L, 1L, 1L, 1L, 1L, 0L, 0L, 0L, 0L, 1L, 1L, 1L, 1L, 0L, 0L, 1L, 1L,
  0L, 0L, 1L, 1L, 0L, 0L, 1L, 1L, 0L, 0L, 1L, 1L, 0L, 1L, 0L, 1L, 0L, 1L, 0L,
  1L, 0L, 1L, 0L, 1L, 0L, 1L, 0L, 1L), .Dim = c(16L, 4L))
last <- c(19, 20, 22, 23, 30, 32, 35, 36, 46, 50, 58, 61, 71, 75, 92, 106)
