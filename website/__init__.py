"""The project's site: docs/ as pages, drawn examples, tables that sort, a judge in the browser."""
