"""Results of the nugget commands as data: each file has a public function and what it returns."""
