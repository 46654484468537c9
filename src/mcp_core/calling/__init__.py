"""How a call is carried out, from the request to the answer."""
