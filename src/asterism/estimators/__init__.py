"""scikit-learn's manners over ``methods``: thin, no mathematics."""
