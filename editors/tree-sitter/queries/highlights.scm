; written by tools/editors
(comment) @comment
(string) @string
(number) @number
["model" "data" "samplers" "import" "var" "given" "observed"
 "distribution" "function" "augmentation" "over" "returns"] @keyword
["for" "in"] @keyword.repeat
(clause keyword: (identifier) @keyword)
(bounded) @keyword

(variable name: (identifier) @variable)
(named name: (identifier) @variable.parameter)
(for index: (identifier) @variable)
(sum index: (identifier) @variable)
(declaration (declared name: (identifier) @variable))
(parameters (declared name: (identifier) @variable.parameter))
(result (declared name: (identifier) @variable.parameter))
(entry name: (identifier) @function)
(choice method: (identifier) @function)
(link function: (identifier) @function.builtin)
(sum function: (identifier) @function.builtin)
((call function: (identifier) @type.builtin)
 (#any-of? @type.builtin
  "bernoulli" "bernoulli_logit" "beta" "beta_binomial" "binomial"
  "binomial_logit" "car.normal" "car.proper" "categorical" "cauchy"
  "chi_square" "dbern" "dbeta" "dbetabin" "dbetabinom" "dbin" "dbinom"
  "dcar_normal" "dcar_proper" "dcar_zero_mean" "dcat" "dchisq" "dchisqr"
  "dconstraint" "ddexp" "ddirch" "ddirich" "dexp" "dexp_nimble" "df" "dflat"
  "dgamma" "dgen.gamma" "dgeom" "dgeom0" "dgev" "dggamma" "dgpar" "dhalfflat"
  "dhyper" "dinterval" "dinvgamma" "dinvwish" "dinvwishart" "dirichlet"
  "dlaplace" "dlkj_corr" "dlkj_corr_cholesky" "dlnorm" "dlogis" "dloglik"
  "dmnorm" "dmnorm.vcov" "dmstate" "dmt" "dmulti" "dmultinom" "dmvt" "dnbinom"
  "dnchisq" "dnchisqr" "dnegbin" "dnorm" "dnormmix" "dnt" "dordered.logit"
  "dordered.probit" "double_exponential" "dpar" "dpick" "dpois" "dround"
  "dsample" "dscaled.gamma" "dscaled.wishart" "dsum" "dt" "dunif" "dweib"
  "dweibull" "dwish" "dwishart" "exponential" "flat" "gamma" "geometric" "gig"
  "gumbel" "half_cauchy" "half_flat" "half_normal" "half_student_t" "half_t"
  "hypergeometric" "inv_chi_square" "inv_gamma" "inv_wishart" "inverse_gamma"
  "laplace" "lkj_corr" "lkj_corr_cholesky" "logistic" "lognormal"
  "modified_half_normal" "multi_normal" "multi_normal_cholesky"
  "multi_normal_prec" "multi_normal_precision" "multi_student_t" "multinomial"
  "neg_binomial" "neg_binomial_2" "neg_binomial_2_log" "negative_binomial"
  "normal" "ordered_logistic" "ordered_probit" "pareto" "poisson"
  "poisson_log" "power_gamma" "power_law" "rayleigh" "root_gig"
  "scaled_inv_chi_square" "student_t" "sum" "uniform" "von_mises" "weibull"
  "wishart"))
((call function: (identifier) @function.builtin)
 (#any-of? @function.builtin
  "abs" "acos" "acosh" "arccos" "arccosh" "arcsin" "arcsinh" "arctan" "arctanh"
  "asin" "asinh" "atan" "atanh" "besselK" "beta_i" "beta_quantile" "c"
  "car_logdet" "ceiling" "chol" "cloglog" "combine" "cos" "cosh" "crossprod"
  "cube" "diag_post_multiply" "diag_pre_multiply" "digamma" "dim" "entered"
  "equals" "exp" "expit" "expm1" "floor" "gamma_p" "gamma_quantile"
  "gamma_upper" "hyper_quantile" "icloglog" "if_else" "ifelse" "ilogit"
  "inprod" "inprod2" "interp.lin" "inverse" "iprobit" "lbeta" "length"
  "lfactorial" "lgamma" "linear_solve" "log" "log1mexp" "log1p" "log1pexp"
  "log_bessel_i0" "log_bessel_k" "log_beta" "log_beta_between" "log_beta_i"
  "log_between" "log_choose" "log_gamma_between" "log_gamma_p"
  "log_gamma_upper" "log_gig_total" "log_hyper_total" "log_laplace_between"
  "log_modified_half_normal_total" "log_nchisqr_density" "log_normal_mixture"
  "log_nt_density" "log_odds_between" "log_phi" "log_phi_between" "log_rising"
  "log_subset_sum" "log_t_between" "log_t_p" "log_total" "log_transition"
  "logdet" "logfact" "loggam" "logit" "max" "mean" "mexp" "min" "modulo"
  "multiply_lower_tri_self_transpose" "nchisqr_p" "nchisqr_quantile" "nt_p"
  "nt_quantile" "order" "phi" "pmax" "pmin" "pow" "probit" "prod"
  "quad_form_diag" "rank" "rank_of" "ranked" "rep" "round" "sd" "sin" "sinh"
  "sort" "sqrt" "step" "t" "t_p" "t_quantile" "tan" "tanh" "tcrossprod"
  "trace_solve" "trigamma" "trunc" "uppertri_mult_diag"))
((call function: (identifier) @function)
 (#not-any-of? @function
  "abs" "acos" "acosh" "arccos" "arccosh" "arcsin" "arcsinh" "arctan" "arctanh"
  "asin" "asinh" "atan" "atanh" "bernoulli" "bernoulli_logit" "besselK" "beta"
  "beta_binomial" "beta_i" "beta_quantile" "binomial" "binomial_logit" "c"
  "car.normal" "car.proper" "car_logdet" "categorical" "cauchy" "ceiling"
  "chi_square" "chol" "cloglog" "combine" "cos" "cosh" "crossprod" "cube"
  "dbern" "dbeta" "dbetabin" "dbetabinom" "dbin" "dbinom" "dcar_normal"
  "dcar_proper" "dcar_zero_mean" "dcat" "dchisq" "dchisqr" "dconstraint"
  "ddexp" "ddirch" "ddirich" "dexp" "dexp_nimble" "df" "dflat" "dgamma"
  "dgen.gamma" "dgeom" "dgeom0" "dgev" "dggamma" "dgpar" "dhalfflat" "dhyper"
  "diag_post_multiply" "diag_pre_multiply" "digamma" "dim" "dinterval"
  "dinvgamma" "dinvwish" "dinvwishart" "dirichlet" "dlaplace" "dlkj_corr"
  "dlkj_corr_cholesky" "dlnorm" "dlogis" "dloglik" "dmnorm" "dmnorm.vcov"
  "dmstate" "dmt" "dmulti" "dmultinom" "dmvt" "dnbinom" "dnchisq" "dnchisqr"
  "dnegbin" "dnorm" "dnormmix" "dnt" "dordered.logit" "dordered.probit"
  "double_exponential" "dpar" "dpick" "dpois" "dround" "dsample"
  "dscaled.gamma" "dscaled.wishart" "dsum" "dt" "dunif" "dweib" "dweibull"
  "dwish" "dwishart" "entered" "equals" "exp" "expit" "expm1" "exponential"
  "flat" "floor" "gamma" "gamma_p" "gamma_quantile" "gamma_upper" "geometric"
  "gig" "gumbel" "half_cauchy" "half_flat" "half_normal" "half_student_t"
  "half_t" "hyper_quantile" "hypergeometric" "icloglog" "if_else" "ifelse"
  "ilogit" "inprod" "inprod2" "interp.lin" "inv_chi_square" "inv_gamma"
  "inv_wishart" "inverse" "inverse_gamma" "iprobit" "laplace" "lbeta" "length"
  "lfactorial" "lgamma" "linear_solve" "lkj_corr" "lkj_corr_cholesky" "log"
  "log1mexp" "log1p" "log1pexp" "log_bessel_i0" "log_bessel_k" "log_beta"
  "log_beta_between" "log_beta_i" "log_between" "log_choose"
  "log_gamma_between" "log_gamma_p" "log_gamma_upper" "log_gig_total"
  "log_hyper_total" "log_laplace_between" "log_modified_half_normal_total"
  "log_nchisqr_density" "log_normal_mixture" "log_nt_density"
  "log_odds_between" "log_phi" "log_phi_between" "log_rising" "log_subset_sum"
  "log_t_between" "log_t_p" "log_total" "log_transition" "logdet" "logfact"
  "loggam" "logistic" "logit" "lognormal" "max" "mean" "mexp" "min"
  "modified_half_normal" "modulo" "multi_normal" "multi_normal_cholesky"
  "multi_normal_prec" "multi_normal_precision" "multi_student_t" "multinomial"
  "multiply_lower_tri_self_transpose" "nchisqr_p" "nchisqr_quantile"
  "neg_binomial" "neg_binomial_2" "neg_binomial_2_log" "negative_binomial"
  "normal" "nt_p" "nt_quantile" "order" "ordered_logistic" "ordered_probit"
  "pareto" "phi" "pmax" "pmin" "poisson" "poisson_log" "pow" "power_gamma"
  "power_law" "probit" "prod" "quad_form_diag" "rank" "rank_of" "ranked"
  "rayleigh" "rep" "root_gig" "round" "scaled_inv_chi_square" "sd" "sin"
  "sinh" "sort" "sqrt" "step" "student_t" "sum" "t" "t_p" "t_quantile" "tan"
  "tanh" "tcrossprod" "trace_solve" "trigamma" "trunc" "uniform"
  "uppertri_mult_diag" "von_mises" "weibull" "wishart"))

["~" "<-" "=" "+" "-" "*" "/" "^" "**" "<" ">" "<=" ">=" "==" "!=" "&&" "||"
 "!"] @operator
(range ":" @operator)
(binary operator: (special) @operator)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";"] @punctuation.delimiter
(item ":" @punctuation.delimiter)
(choice ":" @punctuation.delimiter)
