"""Virtual tables: the same app over mock pins and the real display driver, each in a process of its own."""
