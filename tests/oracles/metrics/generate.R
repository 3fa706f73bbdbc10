# How good clusterings are, by R's fpc, cluster and mclust: Rscript generate.R in this folder (seconds).
suppressPackageStartupMessages({library(fpc); library(cluster); library(mclust); library(jsonlite)})
set.seed(5)

spread <- function(sizes, d, scale) {
  rows <- lapply(seq_along(sizes), function(g) matrix(rnorm(sizes[g] * d, mean = scale * rnorm(d)), ncol = d, byrow = TRUE))
  list(rows = round(do.call(rbind, rows), 4), truth = rep(seq_along(sizes), sizes))
}
iris_rows <- as.matrix(iris[, 1:4])
easy <- spread(c(20, 35, 15), 3, 6)
close <- spread(c(60, 8, 30, 1), 5, 1.5)  # the last group is a single row
tables <- list(
  iris = list(rows = unname(iris_rows), truth = as.integer(iris$Species), labels = kmeans(iris_rows, 4, nstart = 5)$cluster),
  species = list(rows = unname(iris_rows), truth = as.integer(iris$Species), labels = kmeans(iris_rows, 3, nstart = 5)$cluster),
  easy = list(rows = easy$rows, truth = easy$truth, labels = cutree(hclust(dist(easy$rows)), 5)),
  close = list(rows = close$rows, truth = close$truth, labels = cutree(hclust(dist(close$rows), "average"), 3)),
  random = list(rows = close$rows, truth = close$truth, labels = sample(6, 99, replace = TRUE))
)

judged <- function(table, method) {
  away <- dist(table$rows, method)
  found <- cluster.stats(away, table$labels, table$truth)
  list(
    silhouettes = as.vector(silhouette(table$labels, away)[, "sil_width"]),
    silhouette = found$avg.silwidth, group_silhouettes = unname(found$clus.avg.silwidths),
    between = found$n.between * found$average.between, total = sum(away),
    squares = found$within.cluster.ss, calinski_harabasz = found$ch,
    entropy = found$entropy, adjusted_rand = found$corrected.rand, variation_of_information = found$vi
  )
}
numbers <- lapply(tables, function(table) c(table, list(
  euclidean = judged(table, "euclidean"), manhattan = judged(table, "manhattan"),
  adjusted_rand_mclust = adjustedRandIndex(table$truth, table$labels),
  matched_error = classError(table$labels, table$truth)$errorRate
)))

frame <- data.frame(
  size = round(rnorm(40, 10, 3), 3), share = round(runif(40), 4), colour = sample(c("blue", "green", "red"), 40, replace = TRUE)
)
frame$size[c(3, 17)] <- NA
frame$colour[9] <- NA
labels <- rep(1:4, 10)
gower <- daisy(data.frame(frame[, 1:2], colour = factor(frame$colour)), metric = "gower")
mixed <- list(
  size = frame$size, share = frame$share, colour = frame$colour, labels = labels,
  silhouettes = as.vector(silhouette(labels, gower)[, "sil_width"])
)
versions <- sapply(c("fpc", "cluster", "mclust"), function(name) as.character(packageVersion(name)))
write(toJSON(list(R = R.version.string, versions = as.list(versions), tables = numbers, mixed = mixed),
  digits = NA, auto_unbox = TRUE, na = "null"), "values.json")
