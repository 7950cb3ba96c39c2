"""The steps of drawing a graph: read it, find a place for everything, write the picture."""
