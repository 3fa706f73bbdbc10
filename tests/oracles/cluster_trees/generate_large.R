# The tree of 2,000 rows by R's diana: Rscript generate_large.R, in this folder.
# The rows come from Lehmer's generator, exact in doubles, so that they need not be stored.
library(cluster)
library(jsonlite)
state <- 1
lehmer <- function() {
  state <<- (state * 16807) %% 2147483647
  state / 2147483647
}
X <- matrix(replicate(2000 * 3, lehmer()), 2000, byrow = TRUE)
X <- X + (seq_len(2000) - 1) %% 5 * 0.75
tree <- diana(X)
cuts <- sapply(c("2", "5", "20"), function(k) cutree(as.hclust(tree), as.integer(k)), simplify = FALSE)
write(toJSON(list(heights = sort(tree$height), dc = tree$dc, cuts = cuts), digits = NA, auto_unbox = TRUE), "large.json")
