"""What is generated for the documents: `make docs`. Nothing here is a test."""
