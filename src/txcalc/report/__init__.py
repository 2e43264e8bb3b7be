"""An answer as data: addressed quantities, how they came to be, and numbers as people read them."""
