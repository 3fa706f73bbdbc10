# Measured tables with published classes out of R's packages, as CSV: Rscript measured.R folder
# The last column is the class, 1.. (0: not known). What a package does not bring is left out.
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, recursive = TRUE, showWarnings = FALSE)

put <- function(name, package, rows, class) try({
  if (!requireNamespace(package, quietly = TRUE)) stop("no package ", package)
  bring <- new.env()
  from <- function(set) { data(list = set, package = package, envir = bring); get(set, bring) }
  x <- as.matrix(rows(from)); y <- as.integer(factor(class(from)))
  if (length(y) == 0) y <- rep(0L, nrow(x))
  whole <- complete.cases(x) & !is.na(y)
  part <- file.path(folder, paste0(name, ".part"))  # renamed when it is whole
  write.table(cbind(x, y)[whole, ], part, sep = ",", row.names = FALSE, col.names = FALSE)
  file.rename(part, file.path(folder, paste0(name, ".csv")))
}, silent = FALSE)

put("banknote", "mclust", function(s) s("banknote")[, -1], function(s) s("banknote")$Status)
put("diabetes", "mclust", function(s) s("diabetes")[, -1], function(s) s("diabetes")$class)
put("thyroid", "mclust", function(s) s("thyroid")[, -1], function(s) s("thyroid")$Diagnosis)
put("crabs", "MASS", function(s) s("crabs")[, 4:8], function(s) paste(s("crabs")$sp, s("crabs")$sex))
put("biopsy", "MASS", function(s) s("biopsy")[, 2:10], function(s) s("biopsy")$class)
put("fish", "rrcov", function(s) s("fish")[, 1:6], function(s) s("fish")$Species)
put("hemophilia", "rrcov", function(s) s("hemophilia")[, 1:2], function(s) s("hemophilia")$gr)
put("salmon", "rrcov", function(s) s("salmon")[, 2:3], function(s) s("salmon")$Origin)
put("olive oils of Tuscany", "rrcov", function(s) s("olitos")[, 1:25], function(s) s("olitos")$grp)
put("olive oils of Italy", "dslabs", function(s) s("olive")[, 3:10], function(s) s("olive")$region)
put("vegetable oils", "modeldata", function(s) s("oils")[, 1:7], function(s) s("oils")$class)
put("body", "gclus", function(s) s("body")[, 1:24], function(s) s("body")$Gender)
put("athletes", "sn", function(s) s("ais")[, 3:13], function(s) s("ais")$sex)
put("wines of Piedmont", "sn", function(s) s("wines")[, -1], function(s) s("wines")$wine)
# Kilns 1; 2 and 3; 4 and 5 are three regions.
put("pottery", "HSAUR3", function(s) s("pottery")[, 1:9], function(s) c(1, 2, 2, 3, 3)[s("pottery")$kiln])
put("turtles", "ade4", function(s) log(s("tortues")[, 1:3]), function(s) s("tortues")$sexe)
put("glaucoma", "TH.data", function(s) s("GlaucomaM")[, 1:62], function(s) s("GlaucomaM")$Class)
put("ruspini", "cluster", function(s) s("ruspini"), function(s) rep(1:4, c(20, 23, 17, 15)))  # in the order of its rows
# No classes; the number that is usually given is in choose_measured.py.
put("faithful", "datasets", function(s) s("faithful"), function(s) integer(0))
put("acidity", "mclust", function(s) s("acidity"), function(s) integer(0))
put("xclara", "cluster", function(s) s("xclara"), function(s) integer(0))
