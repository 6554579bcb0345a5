Ndoses <- 6
Nplates <- 3
x <- c(0, 10, 33, 100, 333, 1000)
`y` <-
structure(c(15L, 16L, 16L, 27L, 33L, 20L, 21L, 18L, 26L, 41L, 38L, 27L, 29L,
  21L, 33L, 60L, 41L, 42L), .Dim = c(6L, 3L))
