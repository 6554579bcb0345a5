n <- 40
J <- 4
`y` <-
structure(c(4L, 3L, 3L, 4L, 2L, 3L, 2L, 2L, 3L, 1L, 3L, 3L, 2L, 4L, 3L, 3L, 2L,
  2L, 4L, 1L, 2L, 3L, 3L, 2L, 1L, 3L, 3L, 3L, 4L, 3L, 4L, 2L, 4L, 3L, 3L, 3L,
  3L, 3L, 3L, 4L, 2L, 1L, 3L, 4L, 4L, 3L, 4L, 3L, 3L, 1L, 1L, 4L, 3L, 4L, 4L,
  1L, 4L, 1L, 3L, 1L, 2L, 4L, 4L, 4L, 3L, 4L, 2L, 4L, 1L, 4L, 4L, 4L, 4L, 3L,
  4L, 4L, 3L, 1L, 4L, 4L, 4L, 1L, 2L, 3L, 3L, 3L, 3L, 3L, 3L, 2L, 3L, 3L, 3L,
  2L, 1L, 2L, 3L, 2L, 3L, 3L, 2L, 3L, 3L, 4L, 3L, 3L, 2L, 3L, 3L, 2L, 3L, 3L,
  4L, 3L, 3L, 4L, 1L, 4L, 4L, 3L, 4L, 1L, 3L, 4L, 3L, 4L, 1L, 1L, 1L, 4L, 2L,
  3L, 3L, 4L, 1L, 1L, 4L, 3L, 4L, 1L, 4L, 3L, 4L, 1L, 4L, 1L, 4L, 3L, 1L, 1L,
  4L, 1L, 4L, 1L, 4L, 4L, 1L, 1L, 3L, 4L), .Dim = c(40L, 4L))
