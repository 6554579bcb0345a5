`z` <-
structure(c(NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA,
  NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA, NA,
  NA, NA, NA, NA, 1, NA, NA, NA, NA, NA, NA, NA, NA, 1, NA, NA, NA, NA, 1, NA,
  1, NA, NA, NA, NA, NA, NA, NA, 1, 1, NA, NA, NA, 1, NA, NA, NA, NA, 1, NA,
  NA, 1, NA, NA, 1, NA, NA, NA, NA, 1, NA, NA, NA, 1, NA, 1, 1, NA, 1, 1, 1, 1,
  1, NA, 1, NA, NA, NA, 1, 1, NA, NA, NA, 1, NA, 1, NA, NA, 1, 1, NA, 1, NA, 1,
  1, NA, NA, NA, 1, 1, NA, NA, NA, 1, 1, 1, 1, NA, 1, 1, 1, 1, 1, NA, 1, NA,
  NA, NA, 1, 1, 1, NA, 1, 1, NA, 1, 1, NA, 1, 1, 1, 1, NA, 1, 1, NA, NA, NA, 1,
  1, NA, 1, NA, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, NA, 1, 1, NA, NA, 1, 1, 1, 1, 1,
  1, 1, 1, 1, NA, 1, 1, 1, 1, 1, 1, 1, NA, NA, NA, 1, 1, NA, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, NA, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), .Dim = c(40L, 7L))
