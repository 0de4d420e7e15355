// Precompiled headers belong to a library, and a library has a file.
