# Trees of R's package cluster: Rscript generate.R, in this folder.
library(cluster)
library(jsonlite)
set.seed(1)
cases <- list(
  gaussian = matrix(round(rnorm(60 * 3), 6), 60),
  groups = rbind(matrix(round(rnorm(80), 6), 40), matrix(round(rnorm(80, 4), 6), 40), c(30, -20)),
  votes = as.matrix(round(votes.repub[complete.cases(votes.repub), ], 6))
)
out <- lapply(cases, function(X) {
  X <- unname(X)
  merges <- lapply(c(euclidean = "euclidean", manhattan = "manhattan"), function(metric) {
    tree <- diana(X, metric = metric)
    list(heights = sort(tree$height), dc = tree$dc, cuts = lapply(2:8, function(k) cutree(as.hclust(tree), k)))
  })
  agnes_ac <- sapply(c("single", "complete", "average", "ward", "weighted"), function(m) agnes(X, method = m)$ac)
  list(X = X, diana = merges, ac = as.list(agnes_ac))
})
write(toJSON(out, digits = NA, auto_unbox = TRUE), "values.json")
