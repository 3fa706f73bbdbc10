# Values of R's mclust for the fourteen covariance structures. From this folder:
#   Rscript generate.R
# writes mclust.json: twenty data sets, a hard start for each, and for every structure the log-likelihood
# after 1, 2, 5 and 20 steps, BIC (mclust's sign) and the number of parameters after 20, and the last parameters.
#
# A step of mclust's me() is an M-step from z, then an E-step, which gives the log-likelihood of the new parameters.
# Outer tolerance 0: it makes as many steps as asked for. Inner tolerance and limit (VEI, VEE, VEV, EVE, VVE) are
# tight, so that its inner loops end where they tend to.
suppressMessages(library(mclust))
library(jsonlite)

steps <- c(1, 2, 5, 20)
structures <- mclust.options("emModelNames")
with_prior <- c("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "EEV", "VEV", "VVV")
inner <- function(m) emControl(itmax = c(m, 20000), tol = c(0, 1e-15))

make <- function(seed, n, d, k) {
  set.seed(seed)
  label <- sort(rep_len(seq_len(k), n))
  x <- matrix(0, n, d)
  for (g in seq_len(k)) {
    rows <- which(label == g)
    mix <- matrix(rnorm(d * d, sd = 0.6), d, d) + diag(runif(d, 0.5, 2), d)
    x[rows, ] <- matrix(rnorm(length(rows) * d), ncol = d) %*% mix + rep(rnorm(d, sd = 3), each = length(rows))
  }
  x <- signif(x, 8)
  start <- kmeans(x, k, nstart = 5)$cluster
  wrong <- sample(n, ceiling(n / 20))               # a start that is not yet a stationary point
  start[wrong] <- sample(k, length(wrong), replace = TRUE)
  list(x = x, start = start)
}

run <- function(name, x, start, k, prior = NULL) {
  z <- unmap(start, groups = seq_len(k))
  fits <- lapply(steps, function(m) me(data = x, modelName = name, z = z, prior = prior, control = inner(m), warn = FALSE))
  if (any(sapply(fits, function(f) is.na(f$loglik)))) return(NULL)
  last <- fits[[length(fits)]]
  d <- ncol(x)
  sigma <- last$parameters$variance$sigma
  if (d == 1) sigma <- array(rep_len(last$parameters$variance$sigmasq, k), c(1, 1, k))
  list(
    loglik = sapply(fits, function(f) f$loglik),
    bic = as.numeric(bic(name, last$loglik, nrow(x), d, k)),
    parameters = nMclustParams(name, d, k),
    proportions = last$parameters$pro,
    means = matrix(t(matrix(last$parameters$mean, d, k)), k, d),
    covariances = aperm(array(sigma, c(d, d, k)), c(3, 1, 2))
  )
}

shapes <- list(
  c(60, 1, 1), c(80, 1, 2), c(120, 1, 3), c(150, 1, 5), c(40, 2, 1), c(60, 2, 2), c(90, 2, 3), c(120, 2, 4),
  c(150, 2, 5), c(50, 3, 1), c(70, 3, 2), c(100, 3, 3), c(130, 3, 4), c(150, 3, 5), c(80, 4, 2), c(120, 4, 3),
  c(100, 5, 2), c(150, 5, 3), c(110, 6, 2), c(150, 6, 4)
)

sets <- lapply(seq_along(shapes), function(i) {
  n <- shapes[[i]][1]; d <- shapes[[i]][2]; k <- shapes[[i]][3]
  made <- make(1000 + i, n, d, k)
  names_here <- if (d == 1) c("E", "V") else structures
  prior_here <- if (d == 1) c("E", "V") else with_prior
  plain <- sapply(names_here, function(s) run(s, made$x, made$start, k), simplify = FALSE)
  map <- sapply(prior_here, function(s) run(s, made$x, made$start, k, priorControl()), simplify = FALSE)
  list(n = n, d = d, k = k, x = made$x, start = made$start - 1L, plain = plain, prior = map)
})
text <- toJSON(list(mclust = as.character(packageVersion("mclust")), steps = steps, sets = sets),
               digits = NA, auto_unbox = TRUE, matrix = "rowmajor", null = "null")
writeLines(text, "mclust.json")
