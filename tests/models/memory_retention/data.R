ns <- 6
nt <- 7
n <- 18
t <- c(1, 2, 4, 7, 12, 21, 35)
`k` <-
structure(c(16L, 17L, 13L, 16L, 18L, 18L, 13L, 13L, 9L, 13L, 17L, 13L, 6L, 12L,
  5L, 11L, 12L, 10L, 4L, 7L, 5L, 8L, 12L, 6L, 4L, 3L, 1L, 3L, 6L, 8L, 2L, 3L,
  2L, 3L, 9L, 2L, 2L, 3L, 2L, 0L, 3L, 7L), .Dim = c(6L, 7L))
