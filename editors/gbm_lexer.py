"""Pygments' lexer for gbm, BUGS and JAGS; written by tools/editors.

    pygmentize -l gbm_lexer.py:GbmLexer -x model.gbm
"""
from pygments.lexer import RegexLexer
from pygments.token import (Comment, Keyword, Name, Number, Operator,
                            Punctuation, String, Whitespace)

__all__ = ["GbmLexer"]


class GbmLexer(RegexLexer):
    name = "gbm"
    aliases = ["gbm"]
    filenames = ["*.gbm", "*.bug", "*.bugs", "*.jags"]
    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"#.*$", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            ('"[^"\\n]*"',
             String),
            ('(?<![A-Za-z0-9._])(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?L?(?![A-Za-z0-9._])',
             Number),
            ('(?<![A-Za-z0-9._])(?:for|in)(?![A-Za-z0-9._])',
             Keyword),
            ('^(?:distribution|augmentation|observed|samplers|function|import|model|given|data|var)(?![A-Za-z0-9._])(?!\\s*(?:<-|[~\\[=]))',
             Keyword.Declaration),
            ('(?<![A-Za-z0-9._])(?:T|I|C)(?=\\s*\\()',
             Keyword.Pseudo),
            ('(?<![A-Za-z0-9._])(?:multi_normal_precision|multi_normal_cholesky|scaled_inv_chi_square|modified_half_normal|dlkj_corr_cholesky|double_exponential|neg_binomial_2_log|lkj_corr_cholesky|multi_normal_prec|negative_binomial|ordered_logistic|bernoulli_logit|dordered\\.probit|dscaled\\.wishart|multi_student_t|binomial_logit|dcar_zero_mean|dordered\\.logit|half_student_t|hypergeometric|inv_chi_square|neg_binomial_2|ordered_probit|beta_binomial|dscaled\\.gamma|inverse_gamma|multi_normal|neg_binomial|categorical|dcar_normal|dcar_proper|dconstraint|dexp_nimble|dinvwishart|dmnorm\\.vcov|exponential|half_cauchy|half_normal|inv_wishart|multinomial|poisson_log|power_gamma|car\\.normal|car\\.proper|chi_square|dbetabinom|dgen\\.gamma|bernoulli|dhalfflat|dinterval|dinvgamma|dirichlet|dlkj_corr|dmultinom|geometric|half_flat|inv_gamma|lognormal|power_law|student_t|von_mises|binomial|dbetabin|dinvwish|dlaplace|dnchisqr|dnormmix|dweibull|dwishart|lkj_corr|logistic|rayleigh|root_gig|dchisqr|ddirich|dggamma|dloglik|dmstate|dnbinom|dnchisq|dnegbin|dsample|laplace|poisson|uniform|weibull|wishart|cauchy|dbinom|dchisq|ddirch|dgamma|dgeom0|dhyper|dlnorm|dlogis|dmnorm|dmulti|dround|gumbel|half_t|normal|pareto|dbern|dbeta|ddexp|dflat|dgeom|dgpar|dnorm|dpick|dpois|dunif|dweib|dwish|gamma|beta|dbin|dcat|dexp|dgev|dmvt|dpar|dsum|flat|dmt|dnt|gig|sum|df|dt)(?![A-Za-z0-9._])(?=\\s*\\()',
             Keyword.Type),
            ('(?<![A-Za-z0-9._])(?:multiply_lower_tri_self_transpose|log_modified_half_normal_total|log_laplace_between|log_nchisqr_density|diag_post_multiply|log_normal_mixture|uppertri_mult_diag|diag_pre_multiply|log_gamma_between|log_beta_between|log_odds_between|nchisqr_quantile|log_gamma_upper|log_hyper_total|log_phi_between|gamma_quantile|hyper_quantile|log_nt_density|log_subset_sum|log_transition|quad_form_diag|beta_quantile|log_bessel_i0|log_gig_total|log_t_between|linear_solve|log_bessel_k|gamma_upper|log_between|log_gamma_p|nt_quantile|trace_solve|car_logdet|interp\\.lin|lfactorial|log_beta_i|log_choose|log_rising|t_quantile|tcrossprod|crossprod|log_total|nchisqr_p|icloglog|log1mexp|log1pexp|log_beta|trigamma|arccosh|arcsinh|arctanh|besselK|ceiling|cloglog|combine|digamma|entered|gamma_p|if_else|inprod2|inverse|iprobit|log_phi|log_t_p|logfact|rank_of|arccos|arcsin|arctan|beta_i|equals|ifelse|ilogit|inprod|length|lgamma|logdet|loggam|modulo|probit|ranked|acosh|asinh|atanh|expit|expm1|floor|lbeta|log1p|logit|order|round|trunc|acos|asin|atan|chol|cosh|cube|mean|mexp|nt_p|pmax|pmin|prod|rank|sinh|sort|sqrt|step|tanh|abs|cos|dim|exp|log|max|min|phi|pow|rep|sin|t_p|tan|sd|c|t)(?![A-Za-z0-9._])(?=\\s*\\()',
             Name.Builtin),
            ('^(?:require_between|log_complement|code_in_rows|draw_between|log_survival|draw_shared|derivative|logdensity|observable|statistics|unordered|log_draw|log_mass|priority|quantile|adjoint|builtin|confine|inverse|log_cdf|nominal|require|support|vectors|factor|folded|mixing|raised|single|alias|match|named|range|solve|cell|code|draw|flat|mean|mode|add|cdf|log|as)(?=\\s+[^\\s<~\\[=(])(?![A-Za-z0-9._])',
             Keyword.Reserved),
            ('<-|~|<=|>=|==|!=|&&?|\\|\\|?|\\*\\*|%[^%\\s]*%|[-+*/^<>=!:]',
             Operator),
            (r"[A-Za-z][A-Za-z0-9._]*", Name),
            (r"[()\[\]{},;.]", Punctuation),
        ],
        "comment": [
            (r"[^*]+", Comment.Multiline),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"\*", Comment.Multiline),
        ],
    }
