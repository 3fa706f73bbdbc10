# Labels by R's mclust, table after table: Rscript mclust_labels.R seconds
# Reads lines "file n d most", writes int32 labels to file.labels (-1: nothing found) and the processor's seconds to stdout.
suppressMessages(library(mclust))
limit <- as.numeric(commandArgs(trailingOnly = TRUE)[1])
lines <- file("stdin", "r")
while (length(line <- readLines(lines, 1)) > 0) {
  a <- strsplit(line, " ")[[1]]
  n <- as.integer(a[2]); d <- as.integer(a[3])
  x <- matrix(readBin(a[1], "double", n * d), n, d)  # column by column
  wide <- if (d > 40) c("EII", "VII", "EEI", "EVI", "VEI", "VVI") else NULL
  began <- proc.time()
  found <- try({
    setTimeLimit(elapsed = limit, transient = TRUE)
    Mclust(x, G = seq_len(as.integer(a[4])), modelNames = wide, verbose = FALSE)$classification
  }, TRUE)
  setTimeLimit()
  if (inherits(found, "try-error") || length(found) != n) found <- rep(-1L, n)
  writeBin(as.integer(found), paste0(a[1], ".labels"))
  cat(sum((proc.time() - began)[1:2]), "\n", sep = "")
  flush(stdout())
}
