"""Steps from one shape of the hub's database to the next; run when the database is opened."""
