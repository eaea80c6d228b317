"""How requests reach the product: web server, body limits, headers, throttles and refusals."""
