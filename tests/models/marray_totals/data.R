T <- 6
`m` <-
structure(c(14L, 0L, 0L, 0L, 0L, 6L, 3L, 0L, 0L, 0L, 5L, 9L, 11L, 0L, 0L, 5L,
  2L, 8L, 10L, 0L, 1L, 2L, 6L, 7L, 13L, 49L, 64L, 55L, 63L,
  67L), .Dim = c(5L, 6L))
