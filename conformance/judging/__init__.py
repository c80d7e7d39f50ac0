"""One exchange before one judge: events in, verdicts and findings out."""
