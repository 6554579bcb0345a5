G <- 10
x <- c(-1, 0, 1)
`y` <-
structure(c(3L, 4L, 6L, 2L, 7L, 1L, 2L, 10L, 5L, 25L, 5L, 7L, 7L, 6L, 18L, 5L,
  4L, 7L, 8L, 36L, 6L, 11L, 15L, 5L, 26L, 7L, 3L, 14L, 9L,
  47L), .Dim = c(10L, 3L))
