# EM of R's mclust from a hard start: Rscript mclust.R rows.bin labels.bin n d k steps repeats
# Prints "seconds log-likelihood" for every repeat; reading the table is not in the time.
suppressMessages(library(mclust))
a <- commandArgs(trailingOnly = TRUE)
n <- as.integer(a[3]); d <- as.integer(a[4]); k <- as.integer(a[5])
X <- matrix(readBin(a[1], "double", n * d), n, d)  # column by column
z <- unmap(readBin(a[2], "integer", n, size = 4), groups = 0:(k - 1))
for (i in seq_len(as.integer(a[7]))) {
  t <- system.time(fit <- me(X, modelName = "VVV", z = z, control = emControl(itmax = as.integer(a[6]), tol = 0)))
  cat(sprintf("%.6f %.9f\n", t[["elapsed"]], fit$loglik))
}
