# Dissimilarities and medoids by R's cluster package, for the tables of generate.py.
library(cluster)
library(jsonlite)
tables <- fromJSON("tables.json", simplifyVector = FALSE)
column <- function(values) sapply(values, function(v) if (is.null(v)) NA else v)

frame_of <- function(table) {
  data.frame(
    height = column(table$height), income = column(table$income), color = factor(column(table$color)),
    size = factor(column(table$size), levels = c("S", "M", "L", "XL"), ordered = TRUE),
    smokes = factor(column(table$smokes)), rare = column(table$rare)
  )
}
mixed <- lapply(tables$mixed, function(table) {
  frame <- frame_of(table)
  weights <- unlist(tables$weights)
  list(
    plain = as.vector(daisy(frame[, 1:5], metric = "gower")),
    weighted = as.vector(daisy(frame, metric = "gower", weights = weights, type = list(asymm = "rare"))),
    pam = pam(daisy(frame[, 1:5], metric = "gower"), 3)$objective[["swap"]]
  )
})
numbers <- lapply(tables$numbers, function(table) {
  rows <- t(sapply(table$rows, unlist))
  holes <- rows
  holes[2, 1] <- NA; holes[7, 3] <- NA; holes[9, 1] <- NA
  found <- pam(rows, table$k)
  list(
    pam = found$objective[["swap"]] * nrow(rows),
    manhattan = as.vector(daisy(holes[1:12, ], metric = "manhattan")),
    euclidean = as.vector(daisy(holes[1:12, ], metric = "euclidean"))
  )
})
write(toJSON(list(R = R.version.string, cluster = as.character(packageVersion("cluster")), mixed = mixed,
  numbers = numbers), digits = 17, auto_unbox = TRUE), "values.json")
