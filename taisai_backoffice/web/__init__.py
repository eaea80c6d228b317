"""How requests reach the product: the web server, bounds of bodies, headers, throttles, refusals."""
