"""Drawings as SVG: computational graphs (read the graph, find a place for everything, write the
picture), charts and networks."""
