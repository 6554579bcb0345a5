ns <- 60
`biopsies` <-
structure(c(0L, 0L, 3L, 0L, 1L, 2L, 0L, 1L, 1L, 0L, 2L, 0L, 2L, 0L, 0L, 0L, 0L,
  0L, 0L, 2L, 1L, 0L, 0L, 3L, 1L, 2L, 2L, 0L, 0L, 3L, 0L, 1L, 0L, 3L, 2L, 3L,
  0L, 2L, 0L, 0L, 3L, 1L, 1L, 2L, 0L, 1L, 1L, 0L, 4L, 1L, 0L, 1L, 0L, 0L, 1L,
  4L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 1L, 0L, 0L, 2L, 1L, 4L, 1L, 4L, 2L, 0L,
  1L, 0L, 0L, 1L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 1L, 0L, 1L, 2L, 0L, 0L, 0L, 0L,
  0L, 2L, 0L, 0L, 1L, 0L, 1L, 0L, 0L, 3L, 2L, 3L, 1L, 1L, 0L, 0L, 1L, 2L, 1L,
  0L, 0L, 2L, 0L, 0L, 0L, 0L, 0L, 1L, 1L, 0L, 1L, 1L, 0L, 1L, 0L, 2L, 0L, 0L,
  0L, 0L, 1L, 2L, 1L, 1L, 1L, 2L, 0L, 1L, 0L, 0L, 0L, 3L, 1L, 0L, 1L, 2L, 0L,
  0L, 0L, 1L, 0L, 0L, 0L, 1L, 1L, 1L, 1L, 0L, 3L, 0L, 0L, 0L, 2L, 0L, 1L, 0L,
  0L, 0L, 0L, 0L, 3L, 0L, 0L, 1L, 1L, 1L, 3L, 1L, 1L, 0L, 1L, 0L, 0L, 2L, 0L,
  0L, 0L, 0L, 0L, 0L, 2L, 0L, 1L, 3L, 0L, 0L, 0L, 2L, 4L, 3L, 0L, 0L, 0L, 0L,
  0L, 0L, 0L, 3L, 2L, 2L, 0L, 0L, 0L, 3L, 0L, 1L, 0L, 0L, 0L, 0L, 0L, 0L, 0L,
  0L, 2L, 0L, 0L, 2L, 0L, 2L, 0L, 0L, 0L, 2L, 3L, 1L, 0L), .Dim = c(60L, 4L))
prior <- c(1, 1, 1, 1)
