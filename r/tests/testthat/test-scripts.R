# Scripts in the style of those that are published for rjags, R2jags, jagsUI and
# runjags run with their library line changed, and find what JAGS finds. Without
# GBMR_SCRIPTS two of them; GBMR_SCRIPTS names others, or all.
skip_without_gbmc()

wanted <- strsplit(Sys.getenv("GBMR_SCRIPTS",
                              "rjags_line r2jags_schools"), " ")[[1]]
known <- sub("\\.R$", "", list.files(system.file("scripts", package = "gbmr"),
                                     "\\.R$"))
if ("all" %in% wanted)
  wanted <- known

for (name in wanted)
  test_that(name, {
    expect_true(name %in% known)
    expect_reference(name, samples_of(run_script(name)))
  })
